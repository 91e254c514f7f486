import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { snapshotInto } from "./snapshot.ts";

test("a copy that is begun in the middle of a transaction waits for its end, and holds it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "snapshot-"));
  const database = new DatabaseSync(join(dir, "state.sqlite"));
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE state (revision); INSERT INTO state VALUES (1)");
  database.exec("BEGIN IMMEDIATE; UPDATE state SET revision = 2");
  const copy = snapshotInto(database, join(dir, "copy.sqlite"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  database.exec("COMMIT");
  expect(await copy).toBe(2);
  database.close();
  rmSync(dir, { recursive: true });
});
