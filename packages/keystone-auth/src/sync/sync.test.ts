import { expect, test } from "vitest";
import { CausewayError, createLog, VirtualClock } from "@causeway/foundation";
import type { KubernetesClient, KubeObject } from "@causeway/kubernetes";
import { PROJECT_ID, PROJECT_NAME, ROLES, type KubernetesUser } from "../user.ts";
import { NO_SYNC } from "./plan-config.ts";
import { createSynchronizer } from "./controller.ts";

/** A cluster in which some roles may not be bound. */
function cluster(refused: readonly string[]): { client: KubernetesClient; made: string[]; tried: string[] } {
  const made: string[] = [];
  const tried: string[] = [];
  const client = {
    find: () => Promise.resolve(undefined),
    create(type: { kind: string }, object: KubeObject & { roleRef?: { name: string } }) {
      const what = `${type.kind} ${object.roleRef?.name ?? object.metadata.name}`;
      tried.push(what);
      if (refused.includes(what)) return Promise.reject(new CausewayError("KUBERNETES_FORBIDDEN", `no ${what}`));
      made.push(what);
      return Promise.resolve(object);
    },
  };
  return { client: client as unknown as KubernetesClient, made, tried };
}

const user: KubernetesUser = {
  username: "anna",
  uid: "u1",
  groups: [],
  extra: { [ROLES]: ["admin", "member", "reader"], [PROJECT_ID]: ["p1"], [PROJECT_NAME]: ["shop"] },
};
const config = { ...NO_SYNC, dataTypes: ["projects", "role_assignments"] as const };

function synchronizer(client: KubernetesClient, lines: string[]): (user: KubernetesUser) => Promise<void> {
  const log = createLog({ level: "debug", destination: { write: (line) => lines.push(line) } });
  const { signal } = new AbortController();
  return createSynchronizer({ client, config: () => config, clock: new VirtualClock(), log, signal });
}

test("a role that may not be bound does not keep the others from being bound, and is not tried at each review", async () => {
  const { client, made, tried } = cluster(["RoleBinding admin"]);
  const lines: string[] = [];
  const synchronize = synchronizer(client, lines);
  await synchronize(user);
  expect(made).toEqual(["Namespace p1", "RoleBinding member", "RoleBinding reader"]);
  expect(lines.filter((line) => line.includes("no RoleBinding admin"))).toHaveLength(1);
  await synchronize(user);
  expect(tried).toHaveLength(4);
});

test("the synchronisation binds nothing without its namespace", async () => {
  const { client, tried } = cluster(["Namespace p1"]);
  await synchronizer(client, [])(user);
  expect(tried).toEqual(["Namespace p1"]);
});
