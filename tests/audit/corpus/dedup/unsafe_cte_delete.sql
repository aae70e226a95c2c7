WITH ranked AS ( -- expect: SW104 note
    SELECT *, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY loaded_at DESC, id DESC) AS rn
    FROM dbo.Orders
)
DELETE FROM ranked WHERE rn > 1;
