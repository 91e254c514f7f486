import { expect, test } from "vitest";
import type { MagnumDatabase } from "./database.ts";
import { createMagnumDatabase } from "./database.ts";
import { deletionSql, readRow } from "./rows.ts";

const UUID = "6e8ae3a5-0b4c-4f0e-9d26-000000000001";
const KEY = "6e8ae3a5-0b4c-4f0e-9d26-00000000000c";
const signal = new AbortController().signal;
const printing = (...lines: string[]): MagnumDatabase => ({ run: async () => lines });

test("a row is read after a heading, and without one", async () => {
  const row = `causeway-row\ttrust\ttrustee\t${KEY}\t\thttp://barbican/v1/containers/1\t`;
  const expected = { trustId: "trust", trusteeId: "trustee", certificates: [KEY, "http://barbican/v1/containers/1"] };
  expect(await readRow(printing(row), UUID, signal)).toEqual(expected);
  expect(await readRow(printing("some heading", row), UUID, signal)).toEqual(expected);
  expect(await readRow(printing(), UUID, signal)).toBeUndefined();
});

test("the heading that `mysql --batch` prints is not mistaken for the row", async () => {
  const asked: string[] = [];
  // As the program has it: of a value its text is the heading, unless the query names another.
  const batch: MagnumDatabase = {
    async run(sql) {
      asked.push(sql);
      const [, list = ""] = /^SELECT (.*) FROM cluster/.exec(sql) ?? [];
      const columns = list.split(/, (?!'')/);
      const heading = columns.map((column) => column.replace(/^.* AS /, "").replace(/^'(.*)'$/, "$1"));
      const values = columns.map((column, index) => /^'([^']*)'/.exec(column)?.[1] ?? (index === 2 ? "trustee" : ""));
      return [heading.join("\t"), values.join("\t")];
    },
  };
  expect(await readRow(batch, UUID, signal)).toEqual({ trustId: "", trusteeId: "trustee", certificates: [] });
  expect(asked).toHaveLength(1);
});

test("a text that is not a UUID never becomes part of a statement", async () => {
  await expect(readRow(printing(), "x' OR '1'='1", signal)).rejects.toMatchObject({ code: "MIGRATE_DATABASE_FAILED" });
  expect(() => deletionSql("x", { certificates: [] })).toThrow("is not a UUID");
});

test("certificates in Barbican are left, others go with the row in one transaction", () => {
  expect(deletionSql(UUID, { certificates: [KEY, "http://barbican/v1/containers/1", "'; DROP TABLE cluster"] })).toBe(
    `BEGIN;\nDELETE FROM x509keypair WHERE uuid IN ('${KEY}');\nDELETE FROM nodegroup WHERE cluster_id = '${UUID}';\nDELETE FROM cluster WHERE uuid = '${UUID}';\nCOMMIT;\n`,
  );
});

test("a program that fails is reported with what it wrote", async () => {
  const database = createMagnumDatabase("false");
  await expect(database.run("SELECT 1;", signal)).rejects.toMatchObject({ code: "MIGRATE_DATABASE_FAILED" });
  expect(await createMagnumDatabase("cat").run("a\n\nb\n", signal)).toEqual(["a", "b"]);
});
