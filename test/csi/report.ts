/** A JUnit report of Ginkgo, as far as it is read here: the specs of one suite. */
export interface SpecResult {
  readonly name: string;
  readonly status: "passed" | "failed" | "skipped";
  readonly reason: string;
}

const CASE = /<testcase name="([^"]*)"[^>]*?status="([^"]*)"[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g;

export function specsOf(report: string): readonly SpecResult[] {
  return [...report.matchAll(CASE)].flatMap(([, name = "", status = "", body = ""]) => {
    const plain = unescape(name).replace(/^\[It\] /, "");
    if (unescape(name).startsWith("[") && plain === unescape(name)) return [];
    const result = status === "passed" ? "passed" : status === "skipped" || status === "pending" ? "skipped" : "failed";
    const reason = /<(?:failure|skipped|error) message="([^"]*)"/.exec(body)?.[1] ?? "";
    return [
      {
        name: plain,
        status: result,
        reason: unescape(reason)
          .replace(/^skipped - /, "")
          .trim(),
      },
    ];
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
  "#34": '"',
  "#39": "'",
  "#xA": "\n",
  "#x9": "\t",
};

function unescape(text: string): string {
  return text.replaceAll(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
