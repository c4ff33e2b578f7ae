"""Processes that share work: a pool that ends with the process that started it, or the workers of a Dask
cluster.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gslang.base.diagnostics import InputError
from gslang.base.signals import Terminated

if TYPE_CHECKING:
    from concurrent.futures import Executor, ProcessPoolExecutor


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of `count` processes; a signal that ends this process ends them at once, whatever they are
    about.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children

    # started with the limit on recursion of this one: see `recursion`
    limit = (sys.getrecursionlimit(),)
    with ProcessPoolExecutor(count, initializer=sys.setrecursionlimit, initargs=limit) as pool:
        try:
            yield pool
        except (KeyboardInterrupt, Terminated):
            pool.shutdown(wait=False, cancel_futures=True)
            for child in active_children():
                child.terminate()
            raise


@contextmanager
def workers(jobs: int, cluster: str | None) -> Iterator[Executor]:
    """An executor of `jobs` processes, or of the workers of the Dask cluster whose scheduler has the address
    `cluster`.

    Dask's workers need gslang, and the same files under the same paths. Raises `InputError` if there is no
    scheduler.
    """
    if cluster is None:
        with processes(jobs) as pool:
            yield pool
        return
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--cluster needs Dask", help="pip install 'gslang[dask]'") from None
    try:
        client = Client(cluster, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:  # timeouts are OSErrors
        reason = str(error).strip().splitlines()
        raise InputError(
            f"no Dask scheduler answers: {reason[0] if reason else type(error).__name__}", path=cluster,
            help="give its address as HOST:PORT",
        ) from None
    with client:
        yield client.get_executor()
