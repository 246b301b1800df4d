"""The tables in the docs that are compared with files: by tests/cli/run_table_tests.py, and for scripts/check-claims."""

# Scripts that print their tables as Markdown, and the document that has every row, letter by letter.
TABLES = [
    (["experiments/table1/readings.py", "experiments/table1"], "experiments/table1/README.md"),
    (["experiments/beliefs/table.py", "experiments/beliefs"], "experiments/beliefs/README.md"),
    (["experiments/table2/tables.py", "experiments/table2"], "experiments/table2/README.md"),
    (["experiments/table2/tables.py", "--split", "experiments/table2"], "experiments/table2/README.md"),
    (["experiments/table2/tables.py", "--split", "experiments/table2/split"], "experiments/table2/README.md"),
    (["experiments/table2/tables.py", "--split", "experiments/table2/long"], "experiments/table2/README.md"),
    (["experiments/table2/cures.py", "experiments/table2"], "experiments/table2/README.md"),
    (["experiments/table2/ablations.py", "experiments/table2/ablations.csv"], "experiments/table2/README.md"),
    (["experiments/table2/bias.py"], "experiments/table2/README.md"),
    (["experiments/gflownet/tables.py"], "experiments/gflownet/README.md"),
    (["experiments/own_families/run.py"], "experiments/own_families/README.md"),
    (["experiments/own_families/equal_cost.py"], "experiments/own_families/README.md"),
]

# Documents with tables written by hand, whose numbers the test compares one by one.
COMPARED = {"experiments/table1/README.md", "experiments/depth/README.md", "experiments/figure1/README.md",
            "experiments/memory/README.md", "docs/methods/mass.md"}
