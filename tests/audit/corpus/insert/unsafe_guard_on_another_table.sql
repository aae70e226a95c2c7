-- expect: SW102 note
INSERT INTO mart.invoices (invoice_id, total)
SELECT i.invoice_id, i.total FROM billing.invoices i
WHERE NOT EXISTS (SELECT 1 FROM billing.cancellations c WHERE c.invoice_id = i.invoice_id);
