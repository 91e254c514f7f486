import { DRIVER_NAME, startDriver } from "@causeway/cinder-csi";
import { createMetrics } from "@causeway/foundation";
import { ownVersion } from "../../../release.ts";
import { readCloudConf } from "../../../composition/config-files.ts";
import { invalidFlag, servicesOf } from "../csi/flags.ts";
import { claimReader, logOf, registrationOf, runDriver } from "../csi/process.ts";
import type { RawFlags } from "./command.ts";

/**
 * Serves the driver until the signal aborts.
 * @throws FLAG_INVALID, CLOUD_CONF_UNREADABLE, CINDER_CSI_CONFIG_INVALID, CSI_ENDPOINT_INVALID, CSI_ENDPOINT_IN_USE,
 * CSI_ENDPOINT_UNUSABLE, ENDPOINT_PORT_TAKEN
 */
export async function runCinderCsi(raw: RawFlags, signal: AbortSignal): Promise<void> {
  const services = servicesOf(raw);
  const files = raw.cloudConfig ?? [];
  if (services.includes("controller") && files.length === 0)
    throw invalidFlag("cloud-config", "given: the controller service needs it");
  const topology = topologyOf(raw.additionalTopology ?? []);
  const log = logOf(raw);
  const metrics = createMetrics();
  const claims = claimReader(raw, "cinder-csi");
  const start = () =>
    startDriver({
      endpoint: raw.endpoint,
      version: ownVersion(),
      services,
      topology,
      log,
      metrics,
      clusterId: raw.cluster,
      withTopology: raw.withTopology === "true",
      cloudConf: () => files.map(readCloudConf).join("\n"),
      cloudNames: raw.cloudName ?? [""],
      userAgent: (raw.userAgent ?? []).join(" "),
      ...(claims && { claimAnnotations: claims.read }),
    });
  try {
    const registration = registrationOf(raw, DRIVER_NAME);
    const served = { driver: DRIVER_NAME, endpoint: raw.endpoint, services };
    await runDriver({ httpEndpoint: raw.httpEndpoint, metrics, served, start, log, registration }, signal);
  } finally {
    await claims?.close();
  }
}

function topologyOf(pairs: readonly string[]): Readonly<Record<string, string>> {
  const segments = pairs
    .flatMap((text) => text.split(","))
    .map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw invalidFlag("additional-topology", "KEY=VALUE");
      return [text.slice(0, at), text.slice(at + 1)] as const;
    });
  return Object.fromEntries(segments);
}
