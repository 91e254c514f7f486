import { CausewayError } from "@causeway/foundation";
import type { Component } from "../model/component.ts";

/** Who needs whom: derived from connections, order and sockets of the components. */
export interface Graph {
  /** Components, each after everything that it needs. */
  readonly order: readonly Component[];
  /** What a component needs directly. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
}

/** What a component needs before it starts: names, without repeats, in the order of the table. */
export function needsOf({ connections = [], after = [], sameNode = [] }: Component): string[] {
  const connected = connections.filter(({ needed }) => needed).map(({ to }) => to);
  return [...new Set([...connected, ...after, ...sameNode.map(({ component }) => component)])];
}

/**
 * Orders components by what they need. What is not among them (an external database) is not needed.
 * @throws OPENSTACK_DEPENDENCY_CYCLE with the cycle
 */
export function graphOf(components: readonly Component[]): Graph {
  const byName = new Map(components.map((component) => [component.name, component]));
  const needs = new Map(components.map((each) => [each.name, needsOf(each).filter((name) => byName.has(name))]));
  const cycle = findCycle(needs);
  if (cycle) {
    throw new CausewayError("OPENSTACK_DEPENDENCY_CYCLE", `components wait for each other: ${cycle.join(" -> ")}`, {
      hint: "Remove one of these dependencies, such as an entry of services[].startAfter.",
    });
  }
  const order: Component[] = [];
  const seen = new Set<string>();
  const visit = (component: Component): void => {
    if (seen.has(component.name)) return;
    seen.add(component.name);
    for (const name of needs.get(component.name) ?? []) {
      const needed = byName.get(name);
      if (needed) visit(needed);
    }
    order.push(component);
  };
  components.forEach(visit);
  return { order, needs };
}

/** The names of one cycle, the first one again at the end; undefined without one. Linear in edges. */
export function findCycle(needs: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  for (const start of needs.keys()) {
    const path: { name: string; next: number }[] = [{ name: start, next: 0 }];
    const onPath = new Set([start]);
    while (path.length > 0 && !done.has(start)) {
      const top = path[path.length - 1];
      if (!top) break;
      const name = (needs.get(top.name) ?? [])[top.next++];
      if (name === undefined) {
        done.add(top.name);
        onPath.delete(top.name);
        path.pop();
      } else if (onPath.has(name)) {
        const names = path.map((each) => each.name);
        return [...names.slice(names.indexOf(name)), name];
      } else if (!done.has(name)) {
        onPath.add(name);
        path.push({ name, next: 0 });
      }
    }
  }
  return undefined;
}
