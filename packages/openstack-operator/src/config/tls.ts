import type { OpenStackService } from "@causeway/api";
import type { Component, Port } from "../model/component.ts";
import type { Configure, Facts } from "./facts.ts";
import { SCHEMA_RELEASES, serviceSchema } from "./schema.ts";
import { merged, type Sections } from "./sections.ts";

/** TLS of the APIs: whom clients trust, and where a pod has its own certificate. */

const FOLDER = "/etc/openstack-tls";
/** Where the files of the APIs' TLS are in every pod. */
export const TLS = {
  folder: FOLDER,
  authorities: `${FOLDER}/ca.crt`,
  certificate: `${FOLDER}/tls.crt`,
  key: `${FOLDER}/tls.key`,
} as const;

/** The port that a component serves over TLS where the deployment has it. */
export const tlsPortOf = ({ ports = [] }: Component): Port | undefined => ports.find(({ tls }) => tls);

/** Every option by which a client of an API learns whom to trust, whatever library reads it. */
const TRUST: ReadonlySet<string> = new Set([
  "cafile",
  "ca_file",
  "ca_certificates_file",
  "glance_ca_certificates_file",
  "verify_ssl_path",
  "auth_ca_cert",
]);
/** Sections in which such an option is about the clients of the service, or about no API of OpenStack. */
const OTHERS: ReadonlySet<string> = new Set(["ssl", "vmware", "zvm"]);

/** The configuration of a service, with the authorities of the APIs in each section that is about one of them. */
export const withTls =
  (service: OpenStackService, configure: Configure): Configure =>
  (facts) => {
    const made = configure(facts);
    if (!facts.spec.tls) return made;
    return { ...made, open: merged(made.open, trusted(facts, service, made.open)) };
  };

/** Which sections and options those are is the release's own schema. */
function trusted({ spec, catalogue }: Facts, service: OpenStackService, open: Sections): Sections {
  const newest = SCHEMA_RELEASES.at(-1) as typeof spec.release;
  const schema = serviceSchema(spec.release, service) ?? serviceSchema(newest, service);
  const isAbout = (section: string): boolean =>
    !OTHERS.has(section) &&
    (open[section] !== undefined ||
      section.startsWith("clients") ||
      catalogue.services.has(section as OpenStackService));
  const found = (schema?.names ?? []).filter(isAbout).map((section) => {
    const options = Object.keys(schema?.section(section) ?? {}).filter((option) => TRUST.has(option));
    return [section, Object.fromEntries(options.map((option) => [option, TLS.authorities]))] as const;
  });
  return Object.fromEntries(found.filter(([, options]) => Object.keys(options).length > 0));
}
