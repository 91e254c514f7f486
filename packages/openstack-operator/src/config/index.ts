import type { OpenStackService } from "@causeway/api";
import type { Configure } from "./facts.ts";
import { neutron, nova } from "./services/compute-network.ts";
import { barbican, glance, keystone, placement } from "./services/keystone-glance-placement.ts";
import { cinder, designate, heat, manila, octavia } from "./services/others.ts";

export { DATABASE_SECTIONS, hostOf, internalUrl, membersOf, type Facts } from "./facts.ts";
export { merged, renderIni, type Sections } from "./sections.ts";
export { LOGGING_FILE, loggingFile, needsLoggingFile, withLoggingFile } from "./logging.ts";
export { checkConfiguration, type OptionProblem } from "./check.ts";

/** The defaults of each service that is configured by oslo.config. */
export const configurations: Partial<Record<OpenStackService, Configure>> = {
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

/** Name of the main file, without .conf, where it differs from the service's. */
export const fileNames: Partial<Record<OpenStackService, string>> = { glance: "glance-api" };
