import { createMetrics } from "@causeway/foundation";
import { startDriver } from "@causeway/manila-csi";
import { ownVersion } from "../../../release.ts";
import { servicesOf } from "../csi/flags.ts";
import { claimReader, logOf, registrationOf, runDriver } from "../csi/process.ts";
import type { RawFlags } from "./command.ts";

/**
 * Serves the driver until the signal aborts.
 * @throws FLAG_INVALID, MANILA_CSI_FLAG_INVALID, CSI_ENDPOINT_INVALID, CSI_ENDPOINT_IN_USE, CSI_ENDPOINT_UNUSABLE,
 * ENDPOINT_PORT_TAKEN
 */
export async function runManilaCsi(raw: RawFlags, signal: AbortSignal): Promise<void> {
  const log = logOf(raw);
  const metrics = createMetrics();
  const services = servicesOf(raw);
  const claims = services.includes("controller") ? claimReader(raw, "manila-csi") : undefined;
  const start = () =>
    startDriver({
      endpoint: raw.endpoint,
      version: ownVersion(),
      driverName: raw.drivername,
      protocol: raw.shareProtocolSelector,
      services,
      log,
      metrics,
      clusterId: raw.clusterId,
      withTopology: raw.withTopology === "true",
      userAgent: (raw.userAgent ?? []).join(" "),
      ...(raw.fwdendpoint !== undefined && { proxiedEndpoint: raw.fwdendpoint }),
      ...(raw.runtimeConfigFile !== undefined && { runtimeConfigFile: raw.runtimeConfigFile }),
      ...(claims && { claimAnnotations: claims.read }),
    });
  try {
    const registration = registrationOf(raw, raw.drivername);
    const served = { driver: raw.drivername, endpoint: raw.endpoint, services };
    await runDriver({ httpEndpoint: raw.httpEndpoint, metrics, served, start, log, registration }, signal);
  } finally {
    await claims?.close();
  }
}
