import type { ObjectKey, Source } from "@causeway/kubernetes";
import type { BalancerMemory } from "../gather-balancer.ts";

/** A group that changes wakes the owner of its name; a server's port whose groups change wakes all. */
export function groupSources(
  { watch, groups }: BalancerMemory,
  named: (name: string) => readonly ObjectKey[],
  every: () => readonly ObjectKey[],
): Source[] {
  if (!groups.managed) return [];
  return [
    (enqueue) => watch.securityGroups.onChange(({ object }) => named(object.name).forEach(enqueue)),
    (enqueue) =>
      watch.ports.onChange(({ object, previous }) => {
        if (object.device_id === "" || String(object.security_groups) === String(previous?.security_groups)) return;
        every().forEach(enqueue);
      }),
  ];
}
