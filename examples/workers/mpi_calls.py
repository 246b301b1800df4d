"""A simulator on 64 processes of MPI: mpirun -n 65 /usr/bin/python3 -m mpi4py.futures mpi_calls.py

One process asks, the others answer. Slices of a model of tables are computed in the same way.
"""
import math
import time

import treesample as ts


def simulate(pump, load, rate):
    time.sleep(0.02)
    return -abs(load - 2.5 * pump) - 0.1 * rate


def main():
    from mpi4py.futures import MPIPoolExecutor

    model = ts.Model()
    model.factor(model.variable("pump", 4), model.variable("load", 8), model.variable("rate", 8))(simulate)
    with MPIPoolExecutor() as pool:
        answer = model.infer(executor=pool, calls=300, journal="mpi_calls.journal")
        print(repr(answer))
        grid = ts.families.ising(n=16, seed=1)
        print(repr(grid.infer(executor=pool, method="exact", memory="4M", time=0)))


if __name__ == "__main__":
    main()
