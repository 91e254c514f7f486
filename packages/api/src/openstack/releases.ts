/**
 * The releases of OpenStack that a deployment may have, oldest first. `slurp`: an upgrade may skip the release after it
 * (Skip Level Upgrade Release Process). `name`: as packages and documentation call it.
 */
export const OPENSTACK_RELEASES = [
  { release: "2022.2", name: "Zed", slurp: false },
  { release: "2023.1", name: "Antelope", slurp: true },
  { release: "2023.2", name: "Bobcat", slurp: false },
  { release: "2024.1", name: "Caracal", slurp: true },
  { release: "2024.2", name: "Dalmatian", slurp: false },
  { release: "2025.1", name: "Epoxy", slurp: true },
] as const;

/** A release of OpenStack that the operator knows, such as "2025.1". */
export type OpenStackRelease = (typeof OPENSTACK_RELEASES)[number]["release"];
