import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "./page.ts";
import { declared, places, property, sourceFiles, texts, type SyntaxNode } from "./source/syntax.ts";
import { table } from "./table.ts";

const kinds = ["counter", "gauge", "histogram"];

interface Metric {
  readonly package: string;
  readonly kind: string;
  readonly name: string;
  readonly labels: string;
  readonly help: string;
}

/** Every metric that the sources register, by package. */
function metricsOf(root: string): Metric[] {
  return sourceFiles(root, /\.(counter|gauge|histogram)\(/).flatMap((file) =>
    [...places(file.program)].flatMap(({ node, within }) => {
      const callee = node["callee"] as SyntaxNode | undefined;
      const kind = (callee?.["property"] as SyntaxNode | undefined)?.["name"] as string | undefined;
      const options = (node["arguments"] as SyntaxNode[] | undefined)?.[0];
      if (node.type !== "CallExpression" || !kinds.includes(kind ?? "") || options?.type !== "ObjectExpression")
        return [];
      const [name] = texts(property(options, "name"), within);
      if (name === undefined || kind === undefined) return [];
      const [help = ""] = texts(property(options, "help"), within);
      return [{ package: file.package, kind, name, help, labels: labelsOf(property(options, "labels"), within) }];
    }),
  );
}

function labelsOf(node: SyntaxNode | undefined, within: readonly SyntaxNode[]): string {
  if (node?.type === "Identifier") return labelsOf(declared(node["name"] as string, within), within);
  if (node?.type === "TSAsExpression") return labelsOf(node["expression"] as SyntaxNode, within);
  const elements = (node?.["elements"] ?? []) as SyntaxNode[];
  const inner = (each: SyntaxNode) =>
    each.type === "SpreadElement" ? [labelsOf(each["argument"] as SyntaxNode, within)] : texts(each, within);
  return elements.flatMap(inner).join(", ");
}

/** Those of programs that pods mount: rows of name, kind, labels other than the deployment, and meaning in Python. */
function metricsOfPrograms(root: string): Metric[] {
  return globSync("packages/*/programs/*.py", { cwd: root }).flatMap((path) => {
    const rows = readFileSync(join(root, path), "utf8").matchAll(
      /^ {4}\("(?<name>[a-z_]+)", "(?<kind>counter|gauge|histogram)", "(?<label>[a-z_, ]*)", "(?<help>[^"]+)"\),$/gm,
    );
    return [...rows].map(({ groups = {} }) => {
      const { name = "", kind = "", label = "", help = "" } = groups;
      return {
        package: path.split("/")[1] ?? "",
        kind,
        name,
        help,
        labels: ["deployment", label].filter(Boolean).join(", "),
      };
    });
  });
}

/** One page with the metrics of all programs. */
export function metricsPage(root: string): Page {
  const metrics = [...metricsOf(root), ...metricsOfPrograms(root)];
  const sections = [...new Set(metrics.map((each) => each.package))].map((name) => {
    const own = metrics.filter((each) => each.package === name);
    const rows = [...new Map(own.map((each) => [each.name, each])).values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const cells = rows.map((each) => [`\`${each.name}\``, each.kind, each.labels, each.help]);
    return `## ${name}\n\n${table(["name", "kind", "labels", "meaning"], cells)}`;
  });
  const intro = [
    "# Metrics",
    "Generated from the sources: every metric by the package that has it, in Prometheus' text format on `/metrics` of the program that",
    "runs it. Packages below others (`openstack`, `kubernetes`, `foundation`) count for each program. `…` represents a part that is",
    "known when the program runs: the controller's name, or a prefix that upstream's dashboards expect.",
  ];
  return {
    path: "docs/reference/metrics.md",
    text: `${[[intro[0], intro.slice(1).join("\n")].join("\n\n"), ...sections].join("\n\n")}\n`,
  };
}
