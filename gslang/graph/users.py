"""The users of each node: the inverse of the operands, kept while operands change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

# Up to this many users a tuple, which copies of a graph share, beyond it a dict (ordered, constant-time
# removal); both iterate and have `len`.
MANY_USERS: Final = 16

Readers = tuple[int, ...] | dict[int, None]


def users_of(nodes: Sequence[int]) -> Readers:
    """These nodes, without repetition, as what a graph notes as users of a node."""
    return tuple(nodes) if len(nodes) <= MANY_USERS else dict.fromkeys(nodes)


class Users:
    """The part of a graph that knows who reads a node. `users`: node → its distinct users. `additions`:
    watched node → logs to which users are appended that come or change.
    """

    __slots__ = ("additions", "users")

    def __init__(self) -> None:
        self.users: list[Readers] = []
        self.additions: dict[int, list[list[int]]] = {}

    def copied_users(self) -> list[Readers]:
        """The users of all nodes, for a graph that changes independently."""
        if dict not in set(map(type, self.users)):
            return self.users[:]
        return [users.copy() if isinstance(users, dict) else users for users in self.users]

    def add_user(self, operand: int, user: int) -> None:
        """Note that `user` reads `operand`."""
        users = self.users[operand]
        for log in self.additions.get(operand, ()):
            log.append(user)
        if isinstance(users, dict):
            users[user] = None
        elif user not in users:
            self.users[operand] = users_of((*users, user))

    def drop_user(self, operand: int, user: int) -> None:
        """Note that `user` no longer reads `operand`."""
        users = self.users[operand]
        if isinstance(users, dict):
            users.pop(user, None)
        elif user in users:
            self.users[operand] = tuple([other for other in users if other != user])

    def exchange_users(self, operand: int, gone: Collection[int], new: Collection[int]) -> None:
        """Note that the nodes `new` read `operand`, and that the nodes `gone` no longer do."""
        for log in self.additions.get(operand, ()):
            log.extend(new)
        users = self.users[operand]
        if isinstance(users, dict):
            users.update(dict.fromkeys(new))
            for user in gone:
                users.pop(user, None)
        else:
            kept = [user for user in users if user not in gone]
            self.users[operand] = users_of(kept + [user for user in new if user not in kept])
