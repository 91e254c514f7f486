import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { annotationsPage, cloudConfPage } from "./cloud-conf.ts";
import { commandLinePage } from "./command-line.ts";
import { customResourcePages } from "./custom-resources.ts";
import { definitionFiles } from "./definitions.ts";
import { eventsPage } from "./events.ts";
import { flagsPage } from "./flags.ts";
import { indexPages } from "./indexes.ts";
import { brokenLinks } from "./links.ts";
import { metricsPage } from "./metrics.ts";
import { openStackComponentsPage } from "./openstack-components.ts";
import type { Page } from "./page.ts";
import { missingPaths } from "./paths.ts";
import { widePages, wrapMarkdown } from "./wrap.ts";

/** The pages that are made from the code. */
export function generatedPages(root: string): Page[] {
  const pages = [
    ...customResourcePages(),
    ...definitionFiles(),
    commandLinePage(),
    metricsPage(root),
    eventsPage(root),
    cloudConfPage(),
    annotationsPage(),
    flagsPage(),
    openStackComponentsPage(),
    ...indexPages(root),
  ];
  return pages.map(({ path, text }) => ({ path, text: path.endsWith(".md") ? wrapMarkdown(text) : text }));
}

/** Pages that are not as the code would write them, links that lead nowhere, and paths that do not exist. */
export function checkDocs(root: string): string[] {
  const stale = generatedPages(root).filter(({ path, text }) => {
    const file = join(root, path);
    return !existsSync(file) || readFileSync(file, "utf8") !== text;
  });
  return [
    ...stale.map(({ path }) => `${path}: differs from the code; run npm run docs`),
    ...brokenLinks(root),
    ...missingPaths(root),
    ...widePages(root),
  ];
}
