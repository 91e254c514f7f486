import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { Validity, type Reviewed } from "./validity.ts";

const MINUTE = 60_000;

function stage(expires: number | undefined) {
  const clock = new VirtualClock();
  const seen: string[] = [];
  const reviews: { token: string; answer: (found: Reviewed) => void }[] = [];
  const validity = new Validity({
    expires: expires === undefined ? undefined : clock.now() + expires * MINUTE,
    grace: 10 * MINUTE,
    clock,
    review: (token) => new Promise((answer) => reviews.push({ token, answer })),
    onChange: (isExpired) => seen.push(isExpired ? "expired" : "valid"),
    onOver: () => seen.push("over"),
    onRefused: (reason) => seen.push(`refused: ${reason}`),
  });
  const answer = async (found: Reviewed): Promise<string | undefined> => {
    const review = reviews.shift();
    review?.answer(found);
    await clock.advance(0);
    return review?.token;
  };
  const inMinutes = (minutes: number) => ({ expires: clock.now() + minutes * MINUTE });
  return { clock, seen, validity, answer, inMinutes };
}

test("credentials without a time of their own hold for ever", async () => {
  const { clock, seen } = stage(undefined);
  await clock.advance(100_000 * MINUTE);
  expect(seen).toEqual([]);
});

test("a token that was accepted holds a minute, where this program's clock is ahead", async () => {
  const { clock, seen } = stage(-30);
  await clock.advance(MINUTE - 1);
  expect(seen).toEqual([]);
  await clock.advance(1);
  expect(seen).toEqual(["expired"]);
});

test("a token that is accepted after the old one expired counts, and the old time ends nothing", async () => {
  const { clock, seen, validity, answer, inMinutes } = stage(5);
  await clock.advance(6 * MINUTE);
  validity.renew("new");
  expect(await answer(inMinutes(60))).toBe("new");
  await clock.advance(59 * MINUTE);
  expect(seen).toEqual(["expired", "valid"]);
  await clock.advance(11 * MINUTE);
  expect(seen).toEqual(["expired", "valid", "expired", "over"]);
});

test("one token is reviewed at a time, and of those that wait the last one", async () => {
  const { clock, seen, validity, answer, inMinutes } = stage(5);
  for (const token of ["one", "two", "three"]) validity.renew(token);
  expect(await answer(inMinutes(60))).toBe("one");
  await clock.advance(10_000);
  expect(await answer({ refusal: "unknown" })).toBe("three");
  expect([await answer(inMinutes(60)), seen]).toEqual([undefined, ["refused: unknown"]]);
});

test("an agent that sends tokens all the time has one of them reviewed in ten seconds, and expires", async () => {
  const { clock, seen, validity, answer } = stage(1);
  const reviewed: (string | undefined)[] = [];
  const flood = async (from: number, to: number): Promise<void> => {
    for (let second = from; second < to; second += 1) {
      validity.renew(`token ${second}`);
      reviewed.push(await answer({ refusal: "unknown" }));
      await clock.advance(1_000);
    }
  };
  await flood(0, 1);
  await clock.advance(59_000 - 1);
  expect(seen).toEqual(["refused: unknown"]);
  // What is reviewed once more as the old one expires is replaced at once.
  await clock.advance(1);
  await flood(60, 120);
  expect(seen).toEqual(["refused: unknown", "expired"]);
  expect(reviewed.filter((token) => token !== undefined)).toHaveLength(7);
});

test("a review that is under way when the connection ends changes nothing", async () => {
  const { clock, seen, validity, answer, inMinutes } = stage(5);
  validity.renew("new");
  validity.end();
  await answer(inMinutes(1));
  await clock.advance(100 * MINUTE);
  expect(seen).toEqual([]);
});
