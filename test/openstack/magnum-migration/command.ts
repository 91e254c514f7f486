/** `causeway migrate magnum`, as operators run it, and as it is killed. */
import { causeway } from "../../support/processes.ts";
import { magnumSql } from "./devcloud.ts";

/** After how many printed steps runs of a command are killed, one after the other. */
const KILLS = [1, 4, 9];

export interface Command {
  /** Runs `causeway migrate magnum PHASE`; what it printed. Rejects with that when it ends with an error. */
  migrate(phase: string, ...more: readonly string[]): Promise<string>;
  /** The same, killed with SIGKILL after some steps and run again until it ends by itself. */
  killed(phase: string, ...more: readonly string[]): Promise<{ readonly text: string; readonly kills: number }>;
}

export interface CommandOf {
  /** The cluster. */
  readonly name: string;
  /** The clouds.yaml and its entry; that of an administrator has "-admin" behind it. */
  readonly entry: string;
  readonly clouds: string;
  /** Of the management cluster, and of the cluster that is migrated. */
  readonly kubeconfig: string;
  readonly source: string;
  readonly peerHost: string;
  readonly shell: string;
}

export function openCommand({ name, entry, clouds, kubeconfig, ...of }: CommandOf): Command {
  const base = ["--cloud", entry, "--kubeconfig", kubeconfig];
  const cluster = ["--source-kubeconfig", of.source, "--machine-shell", of.shell, "--peer-host", of.peerHost];
  const magnum = ["--admin-cloud", `${entry}-admin`, "--magnum-sql", magnumSql()];
  const start = (phase: string, given: readonly string[]) => {
    const own = phase === "discover" ? [] : [...cluster, ...magnum];
    return causeway(["migrate", "magnum", phase, name, ...base, ...own, ...given], {
      env: { OS_CLIENT_CONFIG_FILE: clouds },
    });
  };
  const run = async (phase: string, given: readonly string[], killAfter: number): Promise<string | undefined> => {
    const program = start(phase, given);
    let steps = 0;
    program.child.stderr?.on("data", (chunk: Buffer) => {
      const lines = chunk.toString("utf8").split("\n");
      steps += lines.filter((line) => line !== "" && !line.startsWith("waiting")).length;
      if (steps >= killAfter) program.child.kill("SIGKILL");
    });
    const code = await program.ended;
    if (program.child.signalCode === "SIGKILL") return undefined;
    if (code !== 0) throw new Error(`${phase} ended with ${code}: ${program.output()}`);
    return program.output();
  };
  return {
    async migrate(phase, ...given) {
      return (await run(phase, given, Number.POSITIVE_INFINITY)) ?? "";
    },
    async killed(phase, ...given) {
      for (const [kills, killAfter] of [...KILLS, Number.POSITIVE_INFINITY].entries()) {
        const text = await run(phase, given, killAfter);
        if (text !== undefined) return { text, kills };
      }
      throw new Error(`${phase} does not end`);
    },
  };
}
