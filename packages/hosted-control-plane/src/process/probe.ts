import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { messageOf } from "@causeway/foundation";

const TIMEOUT = 3_000;
const LONGEST = 4_096;

/** Undefined: the API server is ready. Else why it is not. */
export function probeApi(dir: string, where: { host: string; port: number }): Promise<string | undefined> {
  return new Promise((resolve) => {
    try {
      const ca = readFileSync(join(dir, "pki", "ca.crt"), "utf8");
      const asked = request(
        { ...where, ca, path: "/readyz", servername: "kubernetes", agent: false, timeout: TIMEOUT },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => (text = (text + chunk).slice(0, LONGEST)));
          response.on("error", () => {});
          response.on("close", () => resolve(response.statusCode === 200 ? undefined : failedChecks(text)));
        },
      );
      asked.on("timeout", () => asked.destroy(new Error("it does not answer")));
      asked.on("error", (error) => resolve(messageOf(error)));
      asked.end();
    } catch (error) {
      resolve(messageOf(error));
    }
  });
}

/** The names of the checks that fail, of the verbose answer that a failing /readyz has. */
function failedChecks(text: string): string {
  const failed = text.split("\n").flatMap((line) => /^\[-\](\S+)/.exec(line)?.[1] ?? []);
  return failed.length === 0 ? text.slice(0, 200) : `its checks fail: ${failed.join(", ")}`;
}
