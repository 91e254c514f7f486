/** Two replicas of a manager as processes, which a test replaces one after the other. */
import { resolve } from "node:path";
import type { Lease } from "@causeway/kubernetes";
import { expect } from "vitest";
import { launch, type RunningProgram } from "./run.ts";
import { until } from "./runtime-world.ts";

const main = resolve(import.meta.dirname, "../../packages/causeway/src/main.ts");

/** In tenths of a second: a Lease of a killed leader lasts 15 s, and the machine may be busy. */
export const LONG = 3_000;

/** The name by which a replica takes part in the election, from its log. */
function identityOf(program: RunningProgram): string | undefined {
  return /identity(?:=|":")([^\s",}]+)/.exec(program.output())?.[1];
}

/** Two replicas of one manager, which are replaced. */
export class Replicas {
  readonly #argumentsOf: () => Promise<readonly string[]>;
  readonly #lease: () => Promise<Lease | undefined>;
  readonly #all: RunningProgram[] = [];

  constructor(argumentsOf: () => Promise<readonly string[]>, lease: () => Promise<Lease | undefined>) {
    this.#argumentsOf = argumentsOf;
    this.#lease = lease;
  }

  /** Starts one; returns when it takes part in the election. */
  async add(): Promise<void> {
    const program = launch(process.execPath, [main, "run", ...(await this.#argumentsOf())]);
    this.#all.push(program);
    await program.until(/standby|became the leader|starting/, 120_000);
  }

  /** Another one takes the place of the leader: the oldest, or one that was faster. Returns once there is a leader. */
  async replace(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const before = await until("a leader", async () => (await this.#lease())?.spec?.holderIdentity || undefined, LONG);
    const place = this.#all.findIndex((each) => identityOf(each) === before);
    expect(place, `the replica that is ${before}`).toBeGreaterThanOrEqual(0);
    const [leader] = this.#all.splice(place, 1);
    leader?.child.kill(signal);
    const ended = await leader?.ended;
    // By SIGTERM it ends by itself; of one that is killed there is no code.
    expect(ended?.code).toBe(signal === "SIGTERM" ? 143 : 128);
    await this.add();
    await until(
      "another leader",
      async () => {
        const now = (await this.#lease())?.spec?.holderIdentity;
        return now !== undefined && now !== "" && now !== before ? true : undefined;
      },
      LONG,
    );
  }

  output(): string {
    return this.#all.map((one) => one.output().slice(-1_500)).join("\n---\n");
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.stop()));
  }
}
