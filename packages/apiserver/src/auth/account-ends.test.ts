import { expect, test } from "vitest";
import type { Cluster } from "../contract/cluster.ts";
import type { Json } from "../json/json.ts";
import { clusterWith } from "../testing/objects.ts";
import { AccountEnds } from "./account-ends.ts";

interface Change {
  readonly type: string;
  readonly resource: { readonly group: string; readonly plural: string };
  readonly object: Json;
}

async function opened() {
  const { name, store } = await clusterWith({
    "/serviceaccounts": [
      { metadata: { name: "robot", namespace: "ns" } },
      { metadata: { name: "other", namespace: "ns" } },
    ],
  });
  let listener: ((change: Change) => void) | undefined;
  const changes = { listen: (given: typeof listener) => (listener = given) };
  const ends = new AccountEnds({ name, store, changes } as unknown as Cluster);
  const change = ({
    type = "DELETED",
    group = "",
    plural = "serviceaccounts",
    account = "robot",
    namespace = "ns",
  }): void =>
    listener?.({
      type,
      resource: { group, plural },
      object: { metadata: { name: account, ...(namespace ? { namespace } : {}) } },
    });
  return { ends, change };
}

const userOf = (name: string) => ({ name, groups: [] });
const ROBOT = userOf("system:serviceaccount:ns:robot");

test("a connection of a service account ends when the account is deleted, or the server closes", async () => {
  const { ends, change } = await opened();
  const closing = new AbortController();
  const [one, two] = [ends.signalFor(ROBOT, closing.signal), ends.signalFor(ROBOT, closing.signal)];
  const other = ends.signalFor(userOf("system:serviceaccount:ns:other"), closing.signal);
  change({});
  expect([one.aborted, two.aborted, other.aborted]).toEqual([true, true, false]);
  closing.abort();
  expect(other.aborted).toBe(true);
});

test("a connection that is opened after an account was deleted and created again does not end with the first", async () => {
  const { ends, change } = await opened();
  const never = new AbortController().signal;
  ends.signalFor(ROBOT, never);
  change({});
  const again = ends.signalFor(ROBOT, never);
  expect(again.aborted).toBe(false);
  change({});
  expect(again.aborted).toBe(true);
});

test.each([
  ["an update", { type: "MODIFIED" }],
  ["another group", { group: "example.com" }],
  ["another resource", { plural: "configmaps" }],
  ["another account", { account: "other" }],
  ["another namespace", { namespace: "elsewhere" }],
  ["no namespace", { namespace: "" }],
])("%s ends no connection of a service account", async (_what, wish) => {
  const { ends, change } = await opened();
  const signal = ends.signalFor(ROBOT, new AbortController().signal);
  change(wish);
  expect(signal.aborted).toBe(false);
});

test.each([
  "jane",
  "system:serviceaccount:ns:absent",
  "system:serviceaccount:ns",
  "system:serviceaccount::robot",
  "system:serviceaccount:ns:",
  "x:system:serviceaccount:ns:robot",
  "system:serviceaccount:ns:robot:x",
])("the connections of %s end with the server only", async (name) => {
  const { ends } = await opened();
  const closing = new AbortController().signal;
  expect(ends.signalFor(userOf(name), closing)).toBe(closing);
});
