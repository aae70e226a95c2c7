import click


@click.command(help="INSERT INTO a SELECT * FROM b is what this prints")
@click.option("--query", default="INSERT INTO a SELECT * FROM b", show_default=True)
@click.option("--mode", type=click.Choice(["append", "overwrite", "merge"]))
def main(query, mode):
    click.echo(query)
    click.echo("TRUNCATE TABLE a; INSERT INTO a SELECT * FROM b")


if __name__ == "__main__":
    main()
