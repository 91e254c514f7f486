/**
 * `npm run record:latency [-- --cloud devcloud --rounds 4 --services network,compute,volume,load-balancer]`: how long
 * operations take on a real cloud and through which statuses they go. Writes
 * packages/simulator/src/kernel/latencies.json, which the simulated cloud's delays "real" are, with the machine's load:
 * a busy cloud's figures say nothing of another. With `--cloud simulated` (its delays "real") nothing is written: it
 * prints the same figures, to be held next to those that were recorded.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { loadCloudsYaml } from "@causeway/openstack";
import { startSimulator } from "@causeway/simulator";
import { openApi, type Api, type Passage } from "./api.ts";
import { playRound } from "./operations.ts";

const file = resolve(import.meta.dirname, "../../packages/simulator/src/kernel/latencies.json");

interface Figures {
  readonly count: number;
  /** Milliseconds to the answer, and to the end. */
  readonly answered: Spread;
  readonly settled: Spread;
  /** The statuses that most runs went through. */
  readonly statuses: readonly string[];
}

interface Spread {
  readonly p50: number;
  readonly p90: number;
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { p50: at(0.5), p90: at(0.9) };
}

function figuresOf(passages: readonly Passage[]): Figures {
  const ways = new Map<string, number>();
  for (const { statuses } of passages) {
    const way = statuses.join(" ");
    ways.set(way, (ways.get(way) ?? 0) + 1);
  }
  const [most = ""] = [...ways].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  return {
    count: passages.length,
    answered: spreadOf(passages.map(({ answered }) => answered)),
    settled: spreadOf(passages.map(({ settled }) => settled)),
    statuses: most === "" ? [] : most.split(" "),
  };
}

type Operations = Readonly<Record<string, Figures>>;

/** Plays the rounds; `keep` is given what is known after each, so that a cloud that gives up late leaves something. */
async function measure(
  api: Api,
  { rounds, services }: { readonly rounds: number; readonly services: readonly string[] | undefined },
  keep: (operations: Operations, done: number) => void,
): Promise<void> {
  const all = new Map<string, Passage[]>();
  const note = (operation: string, passage: Passage) => {
    all.set(operation, [...(all.get(operation) ?? []), passage]);
  };
  for (let round = 1; round <= rounds; round++) {
    const begun = performance.now();
    const failed = await playRound(api, note, services).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    if (failed !== undefined) console.log(failed);
    console.log(`round ${round} of ${rounds}: ${Math.round((performance.now() - begun) / 1000)} s`);
    keep(Object.fromEntries([...all].map(([operation, passages]) => [operation, figuresOf(passages)])), round);
  }
}

function print(operations: Operations): void {
  for (const [operation, { count, answered, settled, statuses }] of Object.entries(operations)) {
    const times = `responded ${answered.p50}/${answered.p90} ms, settled ${settled.p50}/${settled.p90} ms`;
    console.log(`${operation.padEnd(28)} ${String(count).padStart(3)} ×  ${times}  ${statuses.join(" → ")}`);
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      cloud: { type: "string", default: "devcloud" },
      rounds: { type: "string", default: "4" },
      services: { type: "string" },
    },
  });
  const wish = { rounds: Number(values.rounds), services: values.services?.split(",") };
  if (values.cloud === "simulated") {
    const simulator = await startSimulator({ profile: "real" });
    try {
      const config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
      await measure(await openApi(config), wish, print);
    } finally {
      await simulator.close();
    }
    return;
  }
  const text = readFileSync(process.env["OS_CLIENT_CONFIG_FILE"] ?? "/var/lib/devcloud/clouds.yaml", "utf8");
  await measure(await openApi(loadCloudsYaml({ cloud: values.cloud, text })), wish, (operations, done) => {
    print(operations);
    const date = new Date().toISOString().slice(0, 10);
    const record = { date, cloud: values.cloud, rounds: done, loadAverage: Math.round(loadavg()[2] ?? 0), operations };
    writeFileSync(file, `${JSON.stringify(record, undefined, 2)}\n`);
  });
}

await main();
