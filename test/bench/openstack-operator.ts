/**
 * OpenStackDeployments on the simulated cluster of test/operator: embedded API server, workload controllers, nodes
 * whose pods start at once, a virtual clock. No process of OpenStack runs: seconds are the order's own, and say how
 * long the operator waits, not how long OpenStack takes to start. Processor time and memory are real.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Pod, type KubernetesClient } from "@causeway/kubernetes";
import { OperatorWorld } from "../operator/world.ts";

interface Row {
  readonly name: string;
  readonly ours: Readonly<Record<string, number>>;
}

/** `--figures`: those of `npm run test:operator -- --real`, which ran before with CAUSEWAY_OPERATOR_FIGURES. */
const { values } = parseArgs({ options: { json: { type: "string" }, figures: { type: "string" } } });
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const COMPONENT = "openstack.causeway.dev/component";
const APIS = ["keystone-api", "glance-api", "placement-api", "neutron-server", "nova-api", "cinder-api"];

const rows: Row[] = [...(await installation()), ...(await nothingToDo(300)), ...figures(values.figures)];
for (const { name, ours } of rows) {
  console.log(name);
  console.table([ours]);
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows }, undefined, 2)}\n`);

/** The newest of each name. */
function figures(file: string | undefined): Row[] {
  const lines = file === undefined ? [] : readFileSync(file, "utf8").split("\n").filter(Boolean);
  const read = lines.map((line) => JSON.parse(line) as Row);
  return [...new Map(read.map((row) => [row.name, row])).values()];
}

/** Watches how often each API has no pod that is ready, once it has had one, and how many pods were ever there. */
function watchPods(client: KubernetesClient) {
  const seen = new Set<string>();
  const served = new Set<string>();
  let away = 0;
  let restarts = 0;
  return {
    async check(): Promise<void> {
      const { items } = await client.list(Pod, { namespace: "default" });
      for (const { metadata, status } of items) {
        seen.add(metadata.uid ?? metadata.name);
        for (const { restartCount = 0 } of status?.containerStatuses ?? []) restarts = Math.max(restarts, restartCount);
      }
      const ready = new Set(
        items
          .filter(({ metadata, status }) => {
            const condition = status?.conditions?.find(({ type }) => type === "Ready");
            return condition?.status === "True" && metadata.deletionTimestamp === undefined;
          })
          .map(({ metadata }) => metadata.labels?.[COMPONENT] ?? ""),
      );
      if (APIS.some((name) => served.has(name) && !ready.has(name))) away++;
      for (const name of APIS) if (ready.has(name)) served.add(name);
    },
    pods: () => seen.size,
    restarts: () => restarts,
    /** Seconds of the virtual clock, as each round is a second after the one before. */
    away: () => away,
  };
}

async function stage(w: OperatorWorld, isOver: () => Promise<boolean>): Promise<Record<string, number>> {
  const watched = watchPods(w.client);
  await watched.check();
  const before = { time: w.clock.now(), writes: w.writes.length, pods: watched.pods() };
  while (!(await isOver())) {
    await w.pass(1_000);
    await watched.check();
  }
  return {
    virtualSeconds: (w.clock.now() - before.time) / 1_000,
    writes: w.writes.length - before.writes,
    podsMade: watched.pods() - before.pods,
    restarts: watched.restarts(),
    secondsWithAnApiAway: watched.away(),
  };
}

async function installation(): Promise<Row[]> {
  const w = await OperatorWorld.start(2);
  try {
    w.runOperator();
    const isReady = async () => {
      const { status, metadata } = await w.deployment();
      return status?.phase === "Ready" && status.observedGeneration === metadata.generation;
    };
    await w.createDeployment({ size: "Small" });
    const install = await stage(w, isReady);
    await w.settle();
    const option = { section: "DEFAULT", option: "debug", value: "true" };
    await w.change({ services: [{ name: "glance", configuration: [option] }] });
    const rolling = await stage(w, isReady);
    await w.settle();
    await w.change({ rotation: { passwords: 1 } });
    const rotation = await stage(
      w,
      async () => (await isReady()) && (await w.deployment()).status?.rotation?.passwords === 1,
    );
    return [
      { name: "simulated cluster: from nothing to every component ready, size Small", ours: install },
      { name: "simulated cluster: rolling of one service by an option", ours: rolling },
      { name: "simulated cluster: rotation of every password", ours: rotation },
    ];
  } finally {
    await w.close();
  }
}

/** Twenty reconciliations that find nothing to do, next to the same time without them. */
async function nothingToDo(computes: number): Promise<Row[]> {
  const w = await OperatorWorld.start(computes);
  try {
    const kill = w.runOperator();
    await w.createDeployment();
    await w.whenReady();
    await w.settle();
    await kill();
    collect();
    const alone = process.memoryUsage().heapUsed;
    w.runOperator();
    await w.settle();
    collect();
    const heapMiB = (process.memoryUsage().heapUsed - alone) / 1_048_576;
    const writes = w.writes.length;
    const ROUNDS = 20;
    const spend = async (touch: boolean): Promise<number> => {
      const before = process.cpuUsage();
      for (let round = 0; round < ROUNDS; round++) {
        if (touch) await w.annotate(String(round));
        await w.pass(3_000);
      }
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    const idle = await spend(false);
    const busy = await spend(true);
    const ours = {
      cpuMillisecondsForEach: Math.max(0, Math.round((busy - idle) / ROUNDS)),
      writes: w.writes.length - writes,
      heapOfTheOperatorMiB: Math.round(heapMiB * 10) / 10,
    };
    return [{ name: `simulated cluster: reconcile with nothing to do, ${computes} compute nodes`, ours }];
  } finally {
    await w.close();
  }
}
