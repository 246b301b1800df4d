# %% [markdown]
# # Bounds over time
# Models that cannot be solved exactly at once: certified bounds that close while one waits.

# %%
import treesample as ts

grid = ts.families.ising(n=16, seed=2)
reports = []
answer = grid.infer(time=4, select="gap", progress=reports.append)
answer

# %%
for report in reports[:: max(1, len(reports) // 8)]:
    if report["lower"] is not None and report["upper"] is not None:
        print(f"{report['seconds']:5.1f} s  {report['phase']:<28} [{report['lower']:.4f}, {report['upper']:.4f}]")

# %% [markdown]
# The truth lies between them: this grid is still small enough for elimination.

# %%
exact = grid.infer(method="exact")
answer.log_z.lower <= exact.log_z.estimate <= answer.log_z.upper

# %% [markdown]
# Ctrl-C (here: a progress function that raises) ends a run with the answer so far.

# %%
class Enough(Exception):
    pass


def stop(report):
    if report["seconds"] > 0.5:
        raise Enough


try:
    ts.families.ising(n=40, seed=3).infer(time=60, progress=stop)
except Enough as enough:
    print(enough.answer)
