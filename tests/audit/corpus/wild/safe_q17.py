class Repo:
    def __init__(self, session): self.session = session
    def save(self, order):
        self.session.execute("INSERT INTO orders (id, total) VALUES (:id, :total)", {"id": order.id, "total": order.total})
        self.session.commit()
