/** Three members of Galera and of RabbitMQ lose their power at once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { deployment, podsOf, restarts, statusOf } from "./cloud.ts";
import { record } from "./figures.ts";
import { readLedger, startWriter, type Kind } from "./ledger.ts";
import { loseAll } from "./outage.ts";
import { TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";

const THREE = ["mariadb", "rabbitmq"];
/** Enough that a loss would show, few enough for a slow disk. */
const WRITES = 200;

describe("a database and a broker of three members each", () => {
  let rig: Rig;
  const ready = () => eventually(TIMEOUT, () => statusOf(rig).phase === "Ready");
  const membersOfDatabase = (pod: string) => rig.inContainer(pod, "mariadb", ...status("wsrep_cluster_size"));

  beforeAll(async () => {
    rig = await startRig();
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("form one cluster each, with no restart of any container", async () => {
    rig.apply(volumes());
    rig.apply(deployment([], { services: threefold() }));
    await ready();
    for (const component of THREE) expect(podsOf(rig, component)).toHaveLength(3);
    for (const pod of podsOf(rig, "mariadb")) expect(await membersOfDatabase(pod)).toMatch(/wsrep_cluster_size\s+3/);
    for (const pod of podsOf(rig, "rabbitmq")) expect(await runningBrokers(rig, pod)).toBe(3);
    expect(Object.entries(restarts(rig)).filter(([, count]) => count > 0)).toEqual([]);
  });

  test.each([["the processes of all six members"], ["the whole machine"]])(
    "lose no confirmed row and no confirmed message with %s, and come back by themselves",
    async (what) => {
      const kinds: readonly Kind[] = ["rows", "messages"];
      const writers = await Promise.all(kinds.map((kind) => startWriter(rig, kind)));
      await eventually(TIMEOUT, () => writers.every(({ confirmed }) => confirmed.length >= WRITES));
      const began = Date.now();
      if (what.startsWith("the processes")) await loseAll(rig, THREE);
      else await rig.powerOff();
      await Promise.all(writers.map((writer) => writer.stop()));
      if (!what.startsWith("the processes")) await rig.powerOn();
      for (const [index, kind] of kinds.entries()) {
        const confirmed = writers[index]?.confirmed ?? [];
        const left = await eventually(TIMEOUT, () => readLedger(rig, kind));
        const seconds = Math.round((Date.now() - began) / 1000);
        const missing = confirmed.filter((number) => !left.has(number));
        record(`${what} without power: ${kind} of three members`, {
          confirmed: confirmed.length,
          missing: missing.length,
          secondsToRead: seconds,
        });
        expect(missing).toEqual([]);
      }
      await eventually(TIMEOUT, async () => {
        for (const pod of podsOf(rig, "mariadb"))
          if (!/wsrep_cluster_size\s+3/.test(await membersOfDatabase(pod))) return false;
        for (const pod of podsOf(rig, "rabbitmq")) if ((await runningBrokers(rig, pod)) !== 3) return false;
        return true;
      });
      await ready();
      record(`${what} without power: all members are back`, { seconds: Math.round((Date.now() - began) / 1000) });
    },
  );
});

const status = (name: string) => [
  "sh",
  "-c",
  `mysql --socket=/run/mysqld/mysqld.sock --user=root --password="$(cat /run/credentials/database.admin)" --batch --skip-column-names --execute "SHOW STATUS LIKE '${name}'"`,
];

/** Members of the broker's cluster that run, as one of them sees it. */
async function runningBrokers(rig: Rig, pod: string): Promise<number> {
  const python = `/usr/bin/python3 - <<'END'
import base64, json, urllib.request
secret = open("/run/credentials/broker.admin").read().strip()
request = urllib.request.Request("http://127.0.0.1:15672/api/nodes")
request.add_header("Authorization", "Basic " + base64.b64encode(f"admin:{secret}".encode()).decode())
print(sum(1 for node in json.load(urllib.request.urlopen(request, timeout=60)) if node["running"]))
END`;
  return Number(await rig.inContainer(pod, "rabbitmq", "sh", "-c", python));
}

function threefold(): object[] {
  const { spec } = deployment([]) as { spec: { services: { name: string }[] } };
  return spec.services.map((each) => (THREE.includes(each.name) ? { ...each, replicas: 3 } : each));
}
