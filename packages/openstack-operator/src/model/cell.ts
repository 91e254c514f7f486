import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { Component } from "./component.ts";

/** The cell of Nova that every deployment has. Its components have no cell in their names. */
export const FIRST_CELL = "cell1";

type NodeGroup = OpenStackDeploymentSpec["nodeGroups"][number];

/** The cell that the servers of a group's nodes are in. */
export const cellOf = ({ cell = FIRST_CELL }: Pick<NodeGroup, "cell">): string => cell;

/** The cell of a component that works for a further cell alone; undefined: for the first one, or for all. */
export const furtherCell = ({ cell }: Pick<Component, "cell">): string | undefined =>
  cell === FIRST_CELL ? undefined : cell;

/** The name of a component in a cell: "nova-conductor-cell2". */
export const nameInCell = (name: string, cell: string | undefined): string =>
  cell === undefined || cell === FIRST_CELL ? name : `${name}-${cell}`;

/** The name that a component has in the first cell. */
export function plainName(component: Pick<Component, "name" | "cell">): string {
  const cell = furtherCell(component);
  return cell === undefined ? component.name : component.name.slice(0, -cell.length - 1);
}

/** The database of a further cell, and its virtual host of the message broker. */
export const cellResource = (cell: string): string => `nova_${cell}`;
