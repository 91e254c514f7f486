import { keyTables } from "../key-manager/model.ts";
import type { OwnedKernel } from "../kernel/kernel.ts";
import type { NetworkLinks } from "../kernel/links.ts";
import { balancerState } from "../load-balancing/model.ts";
import type { FloatingIp } from "../network/model.ts";
import { DataPath } from "./data-path.ts";

/** A data path for the load balancers of a cloud, which follows every change. */
export function startDataPath(kernel: OwnedKernel, links: NetworkLinks): DataPath {
  const dataPath = new DataPath({
    state: balancerState(kernel, links),
    keys: keyTables(kernel),
    floatingIps: kernel.table<FloatingIp>("floatingip", ["port_id"]),
    outcomes: () => [kernel.settings.outcomes, kernel.settings.measured],
    report: (down) => {
      kernel.settings.measured = down.map((name) => ({ operation: "member.health", name, outcome: "error" }));
    },
  });
  kernel.onFlush(() => dataPath.refresh());
  return dataPath;
}
