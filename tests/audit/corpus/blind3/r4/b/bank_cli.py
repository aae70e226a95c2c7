import click
import sqlite3


@click.group()
def cli():
    pass


@cli.command()
@click.argument("name")
@click.argument("amount", type=float)
def deposit(name, amount):
    con = sqlite3.connect("bank.db")
    con.execute("INSERT INTO deposits (name, amount) VALUES (?, ?)", (name, amount))
    con.execute("UPDATE accounts SET balance = balance + ? WHERE name = ?", (amount, name))
    con.commit()


if __name__ == "__main__":
    cli()
