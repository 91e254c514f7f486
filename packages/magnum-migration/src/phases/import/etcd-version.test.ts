import { expect, test } from "vitest";
import { record } from "../../testing/planned.ts";
import { versionOf } from "./phase.ts";

const { signal } = new AbortController();

test.for<[string, string, readonly string[] | undefined, string]>([
  ["of a master with an address of version 6", "2001:db8::7", undefined, "https://[2001:db8::7]:2379"],
  ["of a master with an address of version 4", "10.0.0.7", undefined, "https://10.0.0.7:2379"],
  ["at the URL that was given", "10.0.0.7", ["https://etcd.example.org:12379"], "https://etcd.example.org:12379"],
])("import asks for the version of the etcd %s", async ([, address, etcdUrls, expected]) => {
  const masters = record.inventory.masters.map((one) => ({ ...one, address }));
  const status = async (url: string) => ({ version: url }) as never;
  const asked = { ...record, inventory: { ...record.inventory, masters } };
  expect(await versionOf({ status }, etcdUrls === undefined ? {} : { etcdUrls }, asked, signal)).toBe(expected);
});
