import { allComponents, type Component } from "@causeway/openstack-operator";
import type { Page } from "./page.ts";
import { table } from "./table.ts";

/** The page of what OpenStack's operator runs, from the table that its pods, policies and order are made from. */
export function openStackComponentsPage(): Page {
  const services = [...new Set(allComponents.map(({ service }) => service))];
  const text = [
    "# Components of OpenStack",
    "",
    "What an OpenStackDeployment runs. Pods, Jobs, Services, NetworkPolicies, budgets and the order of starts are made from",
    "the same table. A connection that is needed is there before the process starts; another one (later) may come after it.",
    "Sizes and numbers of pods follow from `spec.size` and can be overridden for each service.",
    ...services.flatMap((service) => section(service)),
    "",
    "## What hosts give",
    "",
    "Pods satisfy Pod Security `restricted`, but for these.",
    "",
    table(
      ["component", "needs", "why"],
      allComponents.flatMap(({ name, host }) => (host === undefined ? [] : [[name, needs(host), host.reason]])),
    ),
    "",
  ].join("\n");
  return { path: "docs/reference/openstack-components.md", text };
}

function section(service: string): string[] {
  const own = allComponents.filter((each) => each.service === service);
  const head = ["component", "kind", "what it does", "after", "connects to", "ports", "probe", "grace"];
  return ["", `## ${service}`, "", table(head, own.map(row))];
}

function row(component: Component): string[] {
  const { name, kind, does, after = [], connections = [], ports = [], sameNode = [] } = component;
  const nodes = sameNode.map((each) => `${each.component} (same node)`);
  const opened = connections.map(({ to, port, needed }) => `${reached(to, port)}${needed ? "" : " (later)"}`);
  return [
    `\`${name}\``,
    kind,
    does,
    [...after, ...nodes].join(", "),
    opened.join(", "),
    ports.map((each) => `${each.name} ${each.port}${each.protocol === "UDP" ? "/UDP" : ""}`).join(", "),
    question(component),
    graceOf(component),
  ];
}

/** Databases and brokers are named by who uses them: a field of the deployment says which cluster that is. */
function reached(to: string, port: string): string {
  const [backend, user] = to.split(":");
  return user === undefined ? `${to} ${port}` : `${backend} of ${user}`;
}

function question({ probe }: Component): string {
  switch (probe?.ask) {
    case undefined:
      return "";
    case "http":
      return `GET ${probe.path} at ${probe.port}`;
    case "rpc":
      return `ping over AMQP, topic ${probe.topic}`;
    case "unixctl":
      return `\`${probe.command}\` at its control socket`;
    case "command":
      return `\`${probe.command.filter((word) => !word.startsWith("-")).join(" ")}\``;
    case "tcp":
      return `a connection to ${probe.port}`;
  }
}

function graceOf({ grace, kind }: Component): string {
  if (kind === "Job") return "";
  return "seconds" in grace ? `${grace.seconds} s` : `\`[${grace.option.section}] ${grace.option.name}\``;
}

function needs({
  network,
  pid,
  privileged,
  root,
  capabilities = [],
  paths = [],
}: NonNullable<Component["host"]>): string {
  const flags = { "host network": network, "host PIDs": pid, privileged, root };
  return [
    ...Object.entries(flags).flatMap(([word, isSet]) => (isSet === true ? [word] : [])),
    ...capabilities,
    ...paths.map(({ path, readOnly }) => `\`${path}\`${readOnly === true ? " (read only)" : ""}`),
  ].join(", ");
}
