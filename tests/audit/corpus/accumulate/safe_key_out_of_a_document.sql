UPDATE docs SET data = data - 'old_key' WHERE kind = 'x';
