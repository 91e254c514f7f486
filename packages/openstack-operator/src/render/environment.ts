import { backendHost, internalUrl, membersOf } from "../config/index.ts";
import type { Component } from "../model/component.ts";
import { hasFront, type Context, type NodeGroup } from "./context.ts";
import { overridesOf } from "./grace.ts";
import { frontMetricsPort } from "./metrics.ts";
import { preflightEnvironment } from "./preflight.ts";
import { replicasOf } from "./sizes.ts";
import { tlsEnvironment } from "./tls.ts";
import { vaultEnvironment } from "./vault.ts";

type Variable = { name: string; value?: string; valueFrom?: Record<string, unknown> };

const field = (name: string, fieldPath: string): Variable => ({ name, valueFrom: { fieldRef: { fieldPath } } });

/** What programs read of their surroundings: names and addresses, never a secret. */
export function environmentOf(context: Context, component: Component, group?: NodeGroup): Variable[] {
  const { deployment } = context;
  const value = (entries: Record<string, string>): Variable[] =>
    // The server stores no empty value.
    Object.entries(entries)
      .filter(([, text]) => text !== "")
      .map(([name, text]) => ({ name, value: text }));
  return [
    field("POD_NAME", "metadata.name"),
    field("POD_IP", "status.podIP"),
    field("NODE_NAME", "spec.nodeName"),
    ...value({ REGION: deployment.spec.region }),
    ...value(ownEnvironment(context, component)),
    ...value(component.scale === "Quorum" ? { MEMBERS: String(replicasOf(deployment.spec, component)) } : {}),
    ...value(backends(context, component)),
    ...value(vaultEnvironment(context, component)),
    ...value(component.pings ? canary(context) : {}),
    ...value(frontEnvironment(context, component)),
    ...value(tlsEnvironment(context, component)),
    ...value(preflightEnvironment(context, component, group)),
    ...value(component.service === "ovn" ? ovn(context, group) : {}),
  ];
}

/** Where it is set, oslo.config takes it for the option `host`, before any file: of one component of a service. */
const HOST_OPTION = "OS_DEFAULT__HOST";

/** The name that one component of a service has. None: an administrator's own one is in the files. */
export function hostOption({ deployment }: Context, { environment, service }: Component): Record<string, string> {
  const host = environment?.[HOST_OPTION];
  const isGiven = overridesOf(deployment.spec, service)["DEFAULT"]?.["host"] !== undefined;
  return host === undefined || isGiven ? {} : { [HOST_OPTION]: host };
}

function ownEnvironment(context: Context, component: Component): Record<string, string> {
  const { [HOST_OPTION]: _host, ...others } = component.environment ?? {};
  return { ...others, ...hostOption(context, component) };
}

function frontEnvironment({ deployment }: Context, component: Component): Record<string, string> {
  if (!hasFront(deployment.spec, component)) return {};
  const port = frontMetricsPort(deployment.spec, component);
  const { namespace = "", name } = deployment.metadata;
  return {
    FRONT_DATABASE: component.configuration?.[0] ?? "",
    ...(port === undefined
      ? {}
      : { FRONT_METRICS: String(port), DEPLOYMENT: `${namespace}/${name}`, COMPONENT: component.name }),
  };
}

function canary({ facts, deployment }: Context): Record<string, string> {
  const { image = "", flavor = "", everySeconds = 900, timeoutSeconds = 600, external } = deployment.spec.canary ?? {};
  const { namespace = "", name } = deployment.metadata;
  return {
    DEPLOYMENT: `${namespace}/${name}`,
    KEYSTONE_URL: `${internalUrl(facts, "keystone-api", 5000)}/v3`,
    CANARY_IMAGE: image,
    CANARY_FLAVOR: flavor,
    CANARY_EVERY_SECONDS: String(everySeconds),
    CANARY_TIMEOUT_SECONDS: String(timeoutSeconds),
    CANARY_EXTERNAL: external?.network ?? "",
  };
}

function backends({ facts }: Context, component: Component): Record<string, string> {
  const { databases, brokers } = facts.catalogue;
  const asksDatabase = component.schemas !== undefined || component.secrets?.includes("database.admin");
  if (asksDatabase && component.kind === "Job") {
    const to = databases.get(component.service) ?? "mariadb";
    return typeof to === "string"
      ? { DATABASE_HOST: backendHost(facts, to), DATABASE_PORT: "3306" }
      : { DATABASE_HOST: to.host, DATABASE_PORT: String(to.port) };
  }
  if (component.secrets?.includes("broker.admin") && component.kind === "Job") {
    const to = brokers.get(component.service) ?? "rabbitmq";
    return { BROKER_HOST: typeof to === "string" ? backendHost(facts, to) : to.host, BROKER_MANAGEMENT_PORT: "15672" };
  }
  return {};
}

/** Where OVN's databases are, and what a group's nodes are connected to. */
function ovn({ facts }: Context, group?: NodeGroup): Record<string, string> {
  const addresses = (side: "nb" | "sb", port: number) =>
    membersOf(facts, `ovn-${side}`, port)
      .map((member) => `tcp:${member}`)
      .join(",");
  const networks = group?.physicalNetworks ?? [];
  return {
    OVN_NB: addresses("nb", 6641),
    OVN_SB: addresses("sb", 6642),
    ...(group
      ? {
          BRIDGE_MAPPINGS: networks.map(({ name, bridge }) => `${name}:${bridge}`).join(","),
          BRIDGE_PORTS: networks.map(({ bridge, interface: port }) => `${bridge}:${port ?? ""}`).join(" "),
          CMS_OPTIONS: group.roles.includes("Network") ? "enable-chassis-as-gw" : "",
        }
      : {}),
  };
}
