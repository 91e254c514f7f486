import { afterEach, vi } from "vitest";
import { startApiServer } from "@causeway/apiserver";
import { loadCloudsYaml } from "@causeway/openstack";
import { startSimulator, type Simulator, type SimulatorOptions } from "@causeway/simulator";
import { workIn } from "../testing/calls.ts";
import { World, type WorldOptions } from "../testing/world.ts";
import { SLOW } from "./stage.ts";

/** What one scenario has to itself. */
export interface OwnWorld {
  readonly w: World;
  readonly cloud: Simulator;
  /** Writes, and reads of single objects, since it was last read. */
  readonly work: () => string[];
}

/** Options of a world whose server and cloud are made for it. */
export interface OwnWorldOptions extends Omit<WorldOptions, "server" | "config"> {
  /** Of the simulated cloud. */
  readonly extensions?: SimulatorOptions["extensions"];
}

/**
 * For files whose scenarios cannot share a stage: gives what starts an API server, a simulated cloud and a world
 * between them, all ended after each test, once `before` has run.
 */
export function ownWorlds(before?: (own: OwnWorld) => Promise<void>): (options: OwnWorldOptions) => Promise<OwnWorld> {
  vi.setConfig(SLOW);
  let simulator: Simulator | undefined;
  let own: OwnWorld | undefined;
  afterEach(async () => {
    if (own) await before?.(own);
    await own?.w.close();
    await simulator?.close();
    own = simulator = undefined;
  });
  return async ({ extensions, ...options }) => {
    const cloud = (simulator = await startSimulator({ profile: "instant", ...(extensions ? { extensions } : {}) }));
    const config = loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator" });
    const intervals = { fast: 20, fastest: 20, slow: 200 };
    const w = await World.start({ server: await startApiServer(), config, intervals, ...options });
    own = { w, cloud, work: workIn(cloud.calls) };
    return own;
  };
}
