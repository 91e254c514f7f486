import { checked, listByKey, object, text } from "../schema/fields.ts";

/** Databases, virtual hosts and components have it in their names. */
const CELL = "^[a-z][a-z0-9]*$";
/** Every deployment has these, or another database of Nova. */
const RESERVED = ["api", "cell0", "cell1"];

const cell = object({
  name: checked(text(1, 15, { pattern: CELL, description: "Its name, such as cell2." }), [
    {
      rule: `!(self in [${RESERVED.map((name) => `'${name}'`).join(", ")}])`,
      message: "cell0 and cell1 are in every deployment, and nova_api is another database: choose another name",
    },
  ]),
});

/** Further cells of Nova. */
export const cells = listByKey(cell, ["name"], {
  max: 8,
  description:
    "Cells of Nova in addition to cell1, each with a database, a virtual host of the broker, conductors and a proxy of consoles of its own.",
});

/** Of a group of nodes. */
export const cellOfGroup = text(1, 15, {
  pattern: CELL,
  description: "Cell of Nova that the servers of these nodes are in: one of spec.cells. Default cell1.",
});

const of = (group: string) => `(has(${group}.cell) ? ${group}.cell : 'cell1')`;
/** What cells and groups have to be like together. */
export const cellRules = [
  {
    rule: "self.nodeGroups.all(g, !has(g.cell) || g.cell == 'cell1' || (has(self.cells) && self.cells.exists(c, c.name == g.cell)))",
    message: "a group of nodeGroups names a cell that is not in cells: add it to cells, or correct the group's cell",
  },
  {
    rule: "self.nodeGroups.all(g, !has(g.cell) || 'Compute' in g.roles)",
    message: "a group of nodeGroups without the role Compute has no cell: no server runs on its nodes",
  },
  {
    rule: `self.nodeGroups.all(g, oldSelf.nodeGroups.all(o, o.name != g.name || ${of("o")} == ${of("g")}))`,
    message:
      "the cell of a group of nodeGroups cannot be changed: Nova moves no host from one cell to another. Drain its nodes, remove the group, delete their compute services in Nova, and add them as a group of another name",
  },
  {
    rule: "!has(oldSelf.cells) || oldSelf.cells.all(o, has(self.cells) && self.cells.exists(c, c.name == o.name))",
    message:
      "a cell cannot be removed from cells: Nova's records of servers, deleted ones too, are in its database. Leave it without node groups, where it is to run no servers",
  },
];
