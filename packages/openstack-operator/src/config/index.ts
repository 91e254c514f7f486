import type { OpenStackService } from "@causeway/api";
import type { Configure } from "./facts.ts";
import { cellOptions, neutron, nova } from "./services/compute-network.ts";
import { barbican, glance, keystone, placement } from "./services/keystone-glance-placement.ts";
import { cinder, designate, heat, manila, octavia } from "./services/others.ts";
import { withTls } from "./tls.ts";

export { backendHost, CLUSTER_DOMAIN, internalUrl, membersOf, patientDatabases } from "./facts.ts";
export type { Facts, TlsMaterial } from "./facts.ts";
export { cellOptions };
export { HEAT_DOMAIN } from "./services/others.ts";
export { TLS, tlsPortOf } from "./tls.ts";
export { merged, renderIni, type Sections } from "./sections.ts";
export { LOGGING_FILE, loggingFile, needsLoggingFile, withLoggingFile } from "./logging.ts";
export { checkConfiguration, type OptionProblem } from "./check.ts";

const services: Partial<Record<OpenStackService, Configure>> = {
  keystone,
  glance,
  placement,
  barbican,
  nova,
  neutron,
  cinder,
  heat,
  octavia,
  designate,
  manila,
};

/** The defaults of each service that is configured by oslo.config. */
export const configurations: Partial<Record<OpenStackService, Configure>> = Object.fromEntries(
  Object.entries(services).map(([service, configure]) => [service, withTls(service as OpenStackService, configure)]),
);

/** Name of the main file, without .conf, where it differs from the service's. */
export const fileNames: Partial<Record<OpenStackService, string>> = { glance: "glance-api" };
