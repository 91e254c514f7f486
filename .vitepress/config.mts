/**
 * The documentation site: `npm run docs:site` builds it into .vitepress/dist, with the generator that tools/docs-site
 * brings.
 */
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

interface Item {
  readonly text: string;
  readonly link: string;
}

/** The pages of a folder, the index first. */
function pages(folder: string): Item[] {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith(".md") && name !== "index.md");
  return names.map((name) => ({ text: title(name), link: `/${folder}/${name.replace(/\.md$/, "")}` }));
}

function title(name: string): string {
  const words = name.replace(/\.md$/, "").replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const packages = readdirSync(join(root, "packages")).map((name) => ({ text: name, link: `/packages/${name}/README` }));

export default {
  title: "Causeway",
  description: "Kubernetes on OpenStack as one TypeScript system",
  srcExclude: ["**/node_modules/**", ".build/**", "tools/**", "test/**", "CHANGELOG.md", ".changeset/**", ".github/**"],
  rewrites: { "README.md": "index.md" },
  // Folders of sources, which the site does not have; npm run check holds those links.
  ignoreDeadLinks: [/^\.\/src\//],
  cleanUrls: true,
  vite: { cacheDir: join(root, "node_modules/.cache/vitepress") },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Tutorials", link: "/docs/tutorials/first-cluster" },
      { text: "How-to", link: "/docs/howto/" },
      { text: "Reference", link: "/docs/reference/command-line" },
      { text: "Explanation", link: "/docs/explanation/" },
    ],
    sidebar: [
      { text: "Tutorials", items: pages("docs/tutorials") },
      { text: "How-to", collapsed: true, items: pages("docs/howto") },
      { text: "Reference", items: pages("docs/reference") },
      { text: "Custom resources", collapsed: true, items: pages("docs/reference/custom-resources") },
      { text: "Errors", collapsed: true, items: pages("docs/reference/errors") },
      {
        text: "Explanation",
        items: [
          { text: "Architecture", link: "/ARCHITECTURE" },
          ...pages("docs/explanation"),
          { text: "Glossary", link: "/docs/glossary" },
        ],
      },
      { text: "Decisions", collapsed: true, items: pages("docs/decisions") },
      { text: "Packages", collapsed: true, items: packages },
    ],
  },
};
