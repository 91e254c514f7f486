import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { Component } from "../model/component.ts";
import type { Sections } from "../config/index.ts";

/** Seconds in which load balancers and clients learn that an API is about to stop. */
export const DRAIN_SECONDS = 10;
/** Seconds in which connections that wait for a process of the API are still served. */
export const QUEUE_SECONDS = 20;
/** Seconds between the service's own limit and the end of the pod. */
const MARGIN_SECONDS = 10;

/** How long the process itself takes to stop at most, from its own configuration. */
export function shutdownSeconds({ grace }: Component, configuration: Sections | undefined): number {
  if ("seconds" in grace) return grace.seconds;
  const { section, name, fallback } = grace.option;
  const given = Number(configuration?.[section]?.[name] ?? "");
  return Number.isSafeInteger(given) && given > 0 ? given : fallback;
}

/** True for APIs over HTTP: before they stop, their health check fails for a while. */
export const drains = ({ probe }: Component): boolean => probe?.ask === "http";

/** terminationGracePeriodSeconds of a component's pods: what comes before, the process's own limit, and a margin. */
export function graceSeconds(component: Component, configuration: Sections | undefined): number {
  const own = shutdownSeconds(component, configuration);
  const before = drains(component) ? DRAIN_SECONDS + QUEUE_SECONDS : component.settles === undefined ? 0 : own;
  return before + own + MARGIN_SECONDS;
}

/** What runs before the process is requested to stop; undefined: nothing. */
export function preStopOf(component: Component, configuration: Sections | undefined): string[] | undefined {
  if (drains(component)) return ["/bin/sh", "/programs/drain.sh", String(DRAIN_SECONDS), String(QUEUE_SECONDS)];
  if (component.settles === undefined) return undefined;
  const seconds = String(shutdownSeconds(component, configuration));
  return ["/usr/bin/python3", "-IS", `/programs/${component.settles}`, seconds];
}

/** Options of a service as its pods on a group's nodes have them. */
export function overridesOf(spec: OpenStackDeploymentSpec, service: string, group?: string): Sections {
  const own = spec.services?.find(({ name }) => name === service)?.configuration ?? [];
  const ofGroup =
    spec.nodeGroups.find(({ name }) => name === group)?.configuration?.find((each) => each.service === service)
      ?.options ?? [];
  const sections: Record<string, Record<string, string>> = {};
  for (const { section, option, value } of [...own, ...ofGroup]) {
    sections[section] = { ...sections[section], [option]: value };
  }
  return sections;
}
