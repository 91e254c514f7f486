import type { OpenStackDeployment } from "@causeway/api";
import { TLS, tlsPortOf } from "../config/index.ts";
import type { Component } from "../model/component.ts";
import { objectName, type Context } from "./context.ts";
import type { Parts } from "./types.ts";

/** The Secret into which the certificate of an API is written. */
export const apiCertificate = (deployment: string, component: string): string =>
  `${objectName(deployment, component)}-certificates`;

/** A Secret with the authorities of the APIs as ca.crt; undefined: they have no TLS. */
export function authoritiesSecret({ metadata, spec }: OpenStackDeployment): string | undefined {
  const { tls } = spec;
  return tls && (tls.from === "Secret" ? tls.name : apiCertificate(metadata.name, "keystone-api"));
}

/** The files of TLS in a pod: whom it trusts, and its own certificate if it serves an API. */
export function tlsParts(context: Context, component: Component): Parts {
  const { tls } = context;
  const parts: Parts = { volumes: [], mounts: [] };
  if (!tls || !usesApis(context, component)) return parts;
  const pair = tls.pairs.get(component.name);
  const sources = [
    { configMap: { name: tls.authorities, items: [{ key: "ca.crt", path: "ca.crt" }] } },
    ...(pair === undefined ? [] : [{ secret: { name: pair } }]),
  ];
  parts.volumes.push({ name: "openstack-tls", projected: { sources, defaultMode: 0o440 } });
  parts.mounts.push({ name: "openstack-tls", mountPath: TLS.folder, readOnly: true });
  return parts;
}

/** Programs of ours and the dashboard have no option for it, but OpenSSL's variable. The system's folder remains. */
export function tlsEnvironment(context: Context, component: Component): Record<string, string> {
  const isConfigured = (component.configuration ?? []).length > 0;
  return context.tls && !isConfigured && usesApis(context, component) ? { SSL_CERT_FILE: TLS.authorities } : {};
}

/** It serves an API, is connected with one, or has a configuration that names the file. */
function usesApis({ facts }: Context, component: Component): boolean {
  if (tlsPortOf(component) || (component.configuration ?? []).length > 0) return true;
  const apis = new Map(facts.catalogue.components.map((each) => [each.name, tlsPortOf(each)?.name]));
  return (component.connections ?? []).some(({ to, port }) => apis.get(to) === port && port !== undefined);
}
