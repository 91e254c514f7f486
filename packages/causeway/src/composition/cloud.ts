import { resolve } from "node:path";
import { type Clock, type Log, InputError } from "@causeway/foundation";
import { cloudIdentity, connectCloud, loadCloudsYaml, renderCloudsYaml, type CloudConfig } from "@causeway/openstack";
import type { Simulator } from "@causeway/simulator";
import type { State } from "./state.ts";
import { chosenCloud, type CloudPlace } from "./chosen.ts";

/** The cloud that the demo runs on, and how its machines reach this host. */
export interface ChosenCloud {
  readonly config: CloudConfig;
  /** Who made the cloud: undefined for a real one. */
  readonly simulator: Simulator | undefined;
  /** A clouds.yaml with this one entry, for the cluster's Secret. */
  readonly cloudsYaml: string;
  /** The host that control planes are reached at; undefined: found when the cluster has its router. */
  readonly advertise: string | undefined;
  /** The load balancer provider to use; undefined: the cloud's default. */
  readonly provider: string | undefined;
  /** Ends a simulated cloud; of a real one nothing is left open. */
  close(): Promise<void>;
}

/** What the options of `causeway up` say of the cloud; without `osCloud` it is simulated. */
export interface CloudChoice extends CloudPlace {
  readonly advertiseAddress?: string;
  readonly delays: "instant" | "real";
  /** Of the simulated cloud. */
  readonly dataPath?: boolean;
}

interface CloudContext {
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Opens the cloud before anything else starts, so that a wrong name or password is said at once.
 * @throws FLAG_INVALID, CLOUD_NOT_FOUND, CLOUD_ENVIRONMENT_NOT_SET, OPENSTACK_UNAUTHORIZED, OPENSTACK_UNREACHABLE,
 * STATE_OF_ANOTHER_CLOUD, …
 */
export async function openCloud(choice: CloudChoice, using: CloudContext): Promise<ChosenCloud> {
  if (choice.osCloud !== undefined) return openRealCloud(choice.osCloud, choice, using);
  if (choice.insecure !== true && choice.cacert === undefined) return openSimulator(choice, using);
  throw new InputError("FLAG_INVALID", "--insecure and --cacert are for a real cloud, and no --cloud is given.", {
    hint: "Specify the cloud with --cloud; the simulated cloud needs neither.",
  });
}

async function openSimulator(choice: CloudChoice, using: CloudContext): Promise<ChosenCloud> {
  using.state.bindTo("simulator");
  // Loaded only where it is wanted: on a real cloud it would cost memory and start-up time for nothing.
  const { startSimulator } = await import("@causeway/simulator");
  const simulator = await startSimulator({
    dir: using.state.path("simulator"),
    profile: choice.delays,
    clock: using.clock,
    dataPath: choice.dataPath === true,
  });
  const config = loadCloudsYaml({ cloud: "simulator", text: simulator.cloudsYaml });
  using.state.write("clouds.yaml", simulator.cloudsYaml);
  return {
    config,
    simulator,
    cloudsYaml: renderCloudsYaml(config),
    advertise: choice.advertiseAddress ?? "127.0.0.1",
    provider: "ovn",
    close: () => simulator.close(),
  };
}

async function openRealCloud(name: string, choice: CloudChoice, using: CloudContext): Promise<ChosenCloud> {
  const { insecure, cacert } = choice;
  // The clusters' Secrets have the path.
  const config = chosenCloud({
    osCloud: name,
    ...(insecure === undefined ? {} : { insecure }),
    ...(cacert === undefined ? {} : { cacert: resolve(cacert) }),
  });
  const cloud = connectCloud(config, { clock: using.clock, log: using.log });
  const options = { signal: using.signal };
  try {
    using.state.bindTo(await cloudIdentity(cloud));
    if (!(await cloud.has("load-balancer", options))) {
      throw new InputError("CLOUD_WITHOUT_OCTAVIA", `the cloud ${name} has no load balancing service`, {
        hint: "The demo makes a Service of type LoadBalancer. Use a cloud with Octavia.",
      });
    }
    const providers = await cloud.loadBalancing.providers.all({}, options);
    return {
      config,
      simulator: undefined,
      cloudsYaml: renderCloudsYaml(config),
      advertise: choice.advertiseAddress,
      provider: providers.some((p) => p.name === "ovn") ? "ovn" : undefined,
      close: async () => {},
    };
  } finally {
    await cloud.close();
  }
}
