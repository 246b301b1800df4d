"""Files of results, and tables of Markdown, for the scripts that print the tables of the READMEs."""
import csv


def rows_of(path):
    """A dictionary for each row; lines that begin with # say where the file comes from."""
    return list(csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#")))


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()
