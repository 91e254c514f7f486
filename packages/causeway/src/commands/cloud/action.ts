import { systemClock, whenAborted } from "@causeway/foundation";
import { startSimulator } from "@causeway/simulator";
import { openState } from "../../composition/state.ts";
import type { OutputFormat } from "../../options/output.ts";
import type { CloudOptions } from "./command.ts";
import { commandLog } from "../../terminal/text-log.ts";
import { documentOf } from "../../terminal/documents.ts";

/** What a simulated cloud is reached by. */
interface RunningCloud {
  readonly authUrl: string;
  readonly cloudsYaml: string;
  readonly control: string;
  readonly clouds: readonly string[];
  /** Whether packets go through its load balancers. */
  readonly dataPath: boolean;
}

/**
 * Runs a simulated OpenStack until the signal aborts, with a clouds.yaml next to its state.
 * @throws STATE_TOO_NEW, STATE_IN_USE, STATE_UNREADABLE, STATE_NOT_WRITABLE, PORT_TAKEN
 */
export async function cloud(options: CloudOptions, signal: AbortSignal): Promise<void> {
  const log = commandLog(options.logLevel);
  const state = openState(options.state);
  state.bindTo("simulator");
  const simulator = await startSimulator({
    dir: state.path("simulator"),
    profile: options.delays,
    clock: systemClock,
    dataPath: options.dataPath,
    host: options.bindAddress,
    insecure: options.insecure,
    ...(options.port ? { port: options.port } : {}),
  });
  try {
    const running: RunningCloud = {
      authUrl: simulator.authUrl,
      cloudsYaml: state.write("clouds.yaml", simulator.cloudsYaml),
      control: `${new URL(simulator.authUrl).origin}/_control`,
      dataPath: options.dataPath,
      clouds: [...simulator.cloudsYaml.matchAll(/^ {2}(\S+):$/gm)].map(([, name = ""]) => name),
    };
    process.stdout.write(render(running, options.output));
    log.info("the simulated cloud answers", { authUrl: running.authUrl });
    await whenAborted(signal);
  } finally {
    await simulator.close();
  }
}

function render(running: RunningCloud, output: OutputFormat): string {
  const document = documentOf(running, output);
  if (document !== undefined) return document;
  const { authUrl, cloudsYaml, control, clouds, dataPath } = running;
  return `simulated OpenStack at ${authUrl}
  export OS_CLIENT_CONFIG_FILE=${cloudsYaml} OS_CLOUD=simulator
  entries   ${clouds.join(", ")}
  control   ${control} (calls, faults, delays, outcomes, quotas, inventory${dataPath ? ", data-path" : ""})
Press Ctrl-C to stop it; its data remains in the state folder.
`;
}
