import { expect, test } from "vitest";
import { program } from "@causeway/causeway";
import { problemsIn } from "./command-lines.ts";

const known = { commands: program(new AbortController().signal), scripts: ["bench", "causeway"] };
const page = (...lines: string[]) => problemsIn("docs/a.md", lines.join("\n"), known);
const manifest = (...lines: string[]) => problemsIn("deploy/a.yaml", `${lines.join("\n")}\n`, known);

test.each([
  ["a command", "`causeway swep`", "has the command swep, which causeway does not"],
  [
    "a command of a command",
    "`causeway plan servise NS/NAME`",
    "has the command servise, which causeway plan does not",
  ],
  ["an option", "`causeway plan service --clowd NAME`", "has --clowd, which causeway plan service does not"],
  ["an option with a value", "    causeway up --stat=dir", "has --stat, which causeway up does not"],
  ["an option behind a pipe", "`true | causeway up --x`", "has --x, which causeway up does not"],
  [
    "an option of one of several commands",
    "`causeway plan cluster|machin`",
    "has the command cluster|machin, which causeway plan does not",
  ],
  [
    "an option in brackets",
    "    causeway doctor [--cloud NAME] [--nonsense]",
    "has --nonsense, which causeway doctor does not",
  ],
  ["a script", "`npm run bensh -- x`", "has npm run bensh: package.json has no such script"],
  ["an option behind npm", "`npm run causeway -- up --x`", "has --x, which causeway up does not"],
  ["an option behind npm start", "    npm start -- --x", "has --x, which causeway up does not"],
  ["the name of another package", "`npx causeway up`", "has npx causeway: write npm run causeway --"],
])("a page that names %s that does not exist is reported", (_, line, problem) => {
  expect(page("# Page", "", line)).toEqual([`docs/a.md:3 ${problem}`]);
});

test("an option on the second line of a command, and a span over two lines, are read", () => {
  expect(page("    causeway up \\", "      --x")).toEqual(["docs/a.md:1 has --x, which causeway up does not"]);
  expect(page("It is `causeway up", "--x`.")).toEqual(["docs/a.md:1 has --x, which causeway up does not"]);
  expect(page("```console", "$ A=b causeway up --x", "```")).toEqual([
    "docs/a.md:2 has --x, which causeway up does not",
  ]);
});

test.each([
  "`causeway sweep … --dry-run`, and `causeway plan NAME`",
  "    causeway sweep --cluster-name C [--cloud NAME | --os-cloud NAME] …  # --comment",
  "    causeway get|create cluster web -o json | jq --raw-output .x",
  "    causeway plan svc web --cloud=prod",
  "`npm run test:*`, `npm run NAME`, `npm run bench -- causeway quotas`",
  "causeway is a word --here, and `the causeway --is` one",
])("a page with the line %s is permitted", (line) => {
  expect(page(line)).toEqual([]);
});

test("examples of the help, and advice of the program, are read", () => {
  const source = [
    "Examples:",
    "  causeway up --x      an example",
    "  A=b causeway up -o json | jq `,",
    "`See ${ownName()} kubeconfig web`",
  ];
  expect(problemsIn("packages/causeway/src/a.ts", source.join("\n"), known)).toEqual([
    "packages/causeway/src/a.ts:2 has --x, which causeway up does not",
    "packages/causeway/src/a.ts:4 has the command web, which causeway kubeconfig does not",
  ]);
});

test("arguments of containers and comments of manifests are read", () => {
  expect(manifest("# `causeway run nothing`", "args: [run, cinder-csi, --x=1]")).toEqual([
    "deploy/a.yaml:1 has the command nothing, which causeway run does not",
    "deploy/a.yaml:2 has --x, which causeway run cinder-csi does not",
  ]);
  const items = [
    "  args:",
    "    - run",
    "    - cinder-csi",
    "    {{- with .Values.y }}",
    '    - "--y={{ . }}"',
    "    {{- end }}",
  ];
  expect(manifest(...items)).toEqual(["deploy/a.yaml:1 has --y, which causeway run cinder-csi does not"]);
  expect(manifest("args: [--csi-address=/csi.sock]")).toEqual([]);
});
