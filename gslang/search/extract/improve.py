"""Local improvement of a choice: each class takes the e-node that adds least to what is needed anyway.

As exact-area recovery in logic synthesis (Mishchenko et al., "Improvements to technology mapping for
LUT-based FPGAs", 2007): uses are counted; taking a class back to zero uses gives back what only it needed.
Since a product that several classes share pays only when all of them change over, classes outside the
solution are also tried as if they were free.
"""

from __future__ import annotations

from gslang.search.extract.problem import Choice, Problem, Solution, needed, solution

_ROUNDS = 50  # each of which lowers the cost


def improve(problem: Problem, start: Choice) -> Solution:
    """A solution that costs no more than `start`, at a local optimum unless the rounds end.

    `start` may hold choices for classes that the roots do not need: they are tried, too.
    """
    best, everywhere = solution(problem, start), start
    for _ in range(_ROUNDS):
        uses = _Uses(problem, best, everywhere)
        uses.settle(best.choice)
        uses.share()
        found = solution(problem, uses.choice)
        if found.cost >= best.cost * (1 - 1e-12):
            break
        best = found
    return best


class _Uses:
    """A choice for all classes, with the number of readers of each one that is needed."""

    def __init__(self, problem: Problem, start: Solution, everywhere: Choice) -> None:
        self.problem = problem
        self.choice = {**everywhere, **start.choice}
        try:
            needed(problem, self.choice, self.choice)
        except ValueError:  # the start and what is cheapest elsewhere contradict each other
            self.choice = dict(start.choice)
        self.count = [0] * len(problem.members)
        self.journal: list[tuple[int, int]] | None = None  # former choices, while a trial runs
        for root in problem.roots:
            self.take(root)
        self.readers: list[list[int]] = [[] for _ in problem.members]
        for node, below in enumerate(problem.children):
            if problem.owner[node] in self.choice:
                for child in below:
                    self.readers[child].append(node)

    def take(self, of: int) -> float:
        """One more use of a class: the cost of what is needed with it and was not."""
        return self._use(of, 1, 1)

    def drop(self, of: int) -> float:
        """One use less: the cost of what is not needed without it."""
        return self._use(of, -1, 0)

    def _use(self, of: int, by: int, edge: int) -> float:
        cost, stack = 0.0, [of]
        count, choice = self.count, self.choice
        while stack:
            of = stack.pop()
            count[of] += by
            if count[of] == edge:
                node = choice[of]
                cost += self.problem.costs[node]
                stack.extend(self.problem.children[node])
        return cost

    def can_use(self, of: int, node: int) -> bool:
        """True if an e-node of a class would neither need the class itself nor one without a choice."""
        seen = set()
        stack = list(self.problem.children[node])
        while stack:
            below = stack.pop()
            if below == of or below not in self.choice:
                return False
            if below not in seen:
                seen.add(below)
                stack.extend(self.problem.children[self.choice[below]])
        return True

    def change(self, of: int, only: int | None = None) -> float:
        """Let a class take its cheapest e-node (or one that reads `only`, if that costs no more).

        The cost that this saves.
        """
        problem, now = self.problem, self.choice[of]
        saved = problem.costs[now] + sum(self.drop(child) for child in problem.children[now])
        best, least = now, self._trial(now)
        for node in problem.members[of]:
            if node == now or (only is not None and only not in problem.children[node]):
                continue
            cost = self._trial(node)
            if (cost < least - 1e-12 * abs(least) or (only is not None and cost <= least)) and self.can_use(
                of, node
            ):
                best, least = node, cost
        if best != now and self.journal is not None:
            self.journal.append((of, now))
        self.choice[of] = best
        for child in problem.children[best]:
            self.take(child)
        return saved - least

    def _trial(self, node: int) -> float:
        """The cost of an e-node with what only it would need, at this moment."""
        children = self.problem.children[node]
        if any(child not in self.choice for child in children):
            return float("inf")
        cost = self.problem.costs[node] + sum(self.take(child) for child in children)
        for child in children:
            self.drop(child)
        return cost

    def settle(self, classes: dict[int, int]) -> None:
        """Look once at each class that is needed and has several e-nodes."""
        for of in classes:
            if self.count[of] and len(self.problem.members[of]) > 1:
                self.change(of)

    def share(self) -> None:
        """Try each class that is not needed, but that several others could read, as if it were free."""
        for of in list(self.choice):
            if self.count[of] or len(self.readers[of]) < 2:
                continue
            readers = self._needed_readers(of)
            if len(readers) > 1:
                self._try_shared(of, readers)

    def _needed_readers(self, of: int) -> list[tuple[int, int]]:
        """(class, child) for each needed class that could read a class, directly or by classes that are not
        needed and cost nothing themselves (a split, a reshape); `child` is what its e-node has to read.
        """
        problem = self.problem
        found: dict[int, int] = {}
        stack, seen = [of], {of}
        while stack:
            child = stack.pop()
            for node in self.readers[child]:
                owner = problem.owner[node]
                if self.count[owner]:
                    if self.choice[owner] != node:
                        found.setdefault(owner, child)
                elif problem.costs[node] == 0 and owner not in seen and self.choice.get(owner) == node:
                    seen.add(owner)
                    stack.append(owner)
        return list(found.items())

    def _try_shared(self, of: int, readers: list[tuple[int, int]]) -> None:
        """Keep what changes for the sake of a class if it pays, else put everything back."""
        self.journal = []
        balance = -self.take(of)
        for owner, child in readers:
            if self.count[owner]:
                balance += self.change(owner, child)
        balance += self.drop(of)
        journal, self.journal = self.journal, None
        if balance > 1e-12:
            return
        for owner, node in reversed(journal):
            self._put_back(owner, node)

    def _put_back(self, of: int, node: int) -> None:
        now = self.choice[of]
        self.choice[of] = node
        if self.count[of]:
            for child in self.problem.children[node]:
                self.take(child)
            for child in self.problem.children[now]:
                self.drop(child)

