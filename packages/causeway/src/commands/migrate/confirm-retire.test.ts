import { expect, test } from "vitest";
import { isRetireConfirmed } from "./confirm-retire.ts";
import { renderPlan } from "./render.ts";

const plan = { steps: [{ type: "abandon", what: "abandon stack web" }], proof: [] };
const refused = {
  code: "MIGRATE_HEAT_MACHINES",
  message: "1 Machines have servers of Heat's",
  hint: "Run roll first.",
};

test("retire is questions for with its steps, and done with a yes alone", async () => {
  const questions: string[] = [];
  const ask = (answer: boolean | undefined) => async (question: string) => {
    questions.push(question);
    return answer;
  };
  expect(await isRetireConfirmed(plan, ask(true))).toBe(true);
  expect(await isRetireConfirmed(plan, ask(false))).toBe(false);
  await expect(isRetireConfirmed(plan, ask(undefined))).rejects.toMatchObject({ code: "MIGRATE_NOT_CONFIRMED" });
  expect(questions[0]).toBe("would abandon stack web\nAfter this the cluster cannot be rolled back. Retire?");
});

test("a retire that is refused asks nothing", async () => {
  const ask = async (): Promise<boolean> => {
    throw new Error("a question");
  };
  await expect(isRetireConfirmed({ steps: [], refused, proof: [] }, ask)).rejects.toMatchObject(refused);
});

test("a plan has what it waits for before the steps that follow", () => {
  const lines = renderPlan({ ...plan, wait: "Heat to complete a change" }, "table");
  expect(lines).toBe("would wait for Heat to complete a change\nwould abandon stack web\n");
});
