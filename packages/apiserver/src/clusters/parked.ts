import { systemClock } from "@causeway/foundation";
import type { LogicalClusterOptions } from "../interface.ts";
import type { Parked } from "../contract/parked.ts";
import type { Request } from "../contract/exchange.ts";
import type { Response } from "../contract/exchange.ts";
import { openEndpoint, type Endpoint } from "./endpoint.ts";
import { clusterIdentity, trustedRoots } from "./identity.ts";
import { DEFAULT_SERVICE_CIDR, type Shared } from "./open-cluster.ts";

interface ParkedCluster {
  readonly name: string;
  readonly folder: string;
  readonly options: LogicalClusterOptions;
  readonly listen: NonNullable<LogicalClusterOptions["listen"]>;
  readonly parked: Parked;
}

/**
 * The endpoint of a cluster that is not served for now: every request gets 503. Nothing of its data is
 * read.
 */
export async function openParked(
  { folder, options, listen, parked }: ParkedCluster,
  shared: Shared,
): Promise<Endpoint> {
  const identity = await clusterIdentity(shared.files, folder, { options, clock: shared.clock });
  const { serviceCidr = DEFAULT_SERVICE_CIDR, dnsDomain = "cluster.local" } = options;
  const { authority, rotation } = identity;
  const roots = { servingRoot: rotation?.serving ?? authority, trustedRoots: trustedRoots(identity) };
  const identified = { ...roots, serviceCidr, dnsDomain, clock: shared.clock };
  const answer = (request: Request, response: Response): void => {
    request.resume();
    refuse(response, parked);
  };
  return openEndpoint(identified, { folder, listen, route: () => undefined, answer }, shared);
}

function refuse(response: Response, { until, reason }: Parked): void {
  const seconds = Math.max(1, Math.ceil((until - systemClock.now()) / 1000));
  const message = `the cluster is not served until ${new Date(until).toISOString()}: ${reason}`;
  const body = JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason: "ServiceUnavailable",
    details: { retryAfterSeconds: seconds },
    code: 503,
  });
  response.statusCode = 503;
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", Buffer.byteLength(body));
  response.setHeader("retry-after", String(seconds));
  response.end(body);
}
