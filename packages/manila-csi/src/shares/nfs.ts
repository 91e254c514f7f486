import { CausewayError, cidrContains, parseCidr, parseIp, type Cidr } from "@causeway/foundation";
import type { ShareAdapter } from "./adapter.ts";
import { chooseLocation, type Place } from "./export-location.ts";

/** Shares for the NFS driver (csi-driver-nfs): the addresses of clients are the rules, and a mount needs no secret. */
export const nfs: ShareAdapter = {
  accessType: "ip",
  needsRule: false,
  clientsOf(parameters) {
    const clients = clientsIn(parameters["nfs-shareClient"] ?? "0.0.0.0/0");
    const wrong = clients.find((each) => parseIp(each) === undefined && parseCidr(each) === undefined);
    if (wrong === undefined) return clients;
    throw new CausewayError("CSI_INVALID_ARGUMENT", `nfs-shareClient has "${wrong.slice(0, 100)}".`, {
      hint: "It lists addresses and networks of clients, like 10.0.0.0/8.",
    });
  },
  isComplete: () => true,
  context({ locations, runtime }) {
    const { matchExportLocationAddress: network } = runtime;
    const { address, path } = chooseLocation(locations, network && ((place) => isIn(network, place)));
    return { server: address, share: path };
  },
  stageSecret: () => ({}),
};

function isIn(network: Cidr, { address }: Place): boolean {
  const ip = parseIp(address.replace(/^\[(.*)\]$/, "$1"));
  return ip !== undefined && cidrContains(network, ip);
}

/** The parts of a list with commas, each once. */
export function clientsIn(text: string): readonly string[] {
  const all = text.split(",").map((each) => each.trim());
  return [...new Set(all.filter((each) => each !== ""))];
}
