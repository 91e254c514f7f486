/** A cloud with Nova and Neutron on two machines: what the files of tests that use it share. */
import { eventually } from "../support/processes.ts";
import { deployment, restarts, statusOf } from "./cloud.ts";
import { TIMEOUT, startRig, volumes, type Rig } from "./rig.ts";

const SERVICES = ["glance", "placement", "ovn", "neutron", "nova"] as const;
interface Option {
  readonly section: string;
  readonly option: string;
  readonly value: string;
}
type Options = Readonly<Record<string, readonly Option[]>>;
/** Nova's own driver without machines: everything but the hypervisor is real. It plugs no interface. */
const fake: Options = {
  nova: [
    { section: "DEFAULT", option: "compute_driver", value: "fake.SmallFakeDriver" },
    { section: "DEFAULT", option: "vif_plugging_is_fatal", value: "false" },
    { section: "DEFAULT", option: "vif_plugging_timeout", value: "0" },
    { section: "compute", option: "live_migration_wait_for_vif_plug", value: "false" },
    { section: "conductor", option: "workers", value: "1" },
    { section: "scheduler", option: "workers", value: "1" },
  ],
};
/** The first machine has all roles, the second one the role Compute alone. */
export const [CONTROL, COMPUTE] = ["openstack-1", "openstack-2"] as const;

/** The deployment, with more options of services. */
export function wholeCloud(options: Options = {}, more: Record<string, unknown> = {}): object {
  const all: Options = { ...fake, ...options, nova: overridden(fake["nova"], options["nova"]) };
  const { spec } = deployment(SERVICES) as { spec: { services: { name: string }[] } };
  const services = spec.services.map((each) => (all[each.name] ? { ...each, configuration: all[each.name] } : each));
  return deployment(SERVICES, { services, maintenance: { lostAfterSeconds: 60 }, ...more });
}

/** Each option once: the later one of two. */
const overridden = (first: readonly Option[] = [], second: readonly Option[] = []): Option[] => [
  ...first.filter((each) => !second.some(({ section, option }) => section === each.section && option === each.option)),
  ...second,
];

/**
 * Two machines with the cloud, Ready; and how long it took from the deployment's creation, in milliseconds. `meanwhile`
 * is done while it starts.
 */
export async function startWholeCloud(
  options: Options = {},
  meanwhile?: (rig: Rig) => Promise<void>,
): Promise<{ rig: Rig; readyAfter: number }> {
  const rig = await startRig({ machines: 2 });
  try {
    const began = Date.now();
    rig.apply(volumes());
    rig.apply(wholeCloud(options));
    await meanwhile?.(rig);
    await whenReady(rig);
    return { rig, readyAfter: Date.now() - began };
  } catch (error) {
    await rig.close();
    throw error;
  }
}

/** Waits; what is not ready is printed when it changes, so that a run that stops says where. */
export async function whenReady(rig: Rig): Promise<void> {
  let said = "";
  await eventually(TIMEOUT, () => {
    const { phase = "", ready, components = [] } = statusOf(rig);
    const open = components.filter(({ state }) => !["Ready", "Waiting"].includes(state));
    const text = `${ready ?? ""} ready; ${open.map(({ name, step, rootCause }) => `${name}: ${rootCause ?? step ?? ""}`).join("; ")}`;
    if (text !== said) console.log(`${new Date().toISOString()} ${(said = text)}`);
    return phase === "Ready";
  });
}

/** Containers that started again since an earlier count. */
export const restarted = (rig: Rig, before: Record<string, number> = {}) =>
  Object.entries(restarts(rig)).filter(([name, count]) => count > (before[name] ?? 0));

export const seconds = (milliseconds: number): number => Math.round(milliseconds / 1000);
