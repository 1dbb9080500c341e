import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rank } from "../../../src/runtime/context/rank.ts";
import { queryWordsOf, wordsOf } from "../../../src/runtime/context/words.ts";

const found = (text: string, query: string): boolean => rank([text], String, query).length > 0;

describe("words of every script", () => {
  it.each([
    ["Latin", "She lives in Zürich and likes Café crème.", "cafe", "zurich tea"],
    ["Cyrillic", "Он живёт в Москве, любит чай.", "МОСКВЕ", "живёт"],
    ["Arabic", "اسمُهُ أَحمَد ويعمل في المكتب", "احمد", "المكتب"],
    ["Hebrew", "שָׁלוֹם עולם", "שלום", "עולם"],
    ["Greek", "Η Αθήνα είναι όμορφη", "ΑΘΉΝΑ", "όμορφη"],
    ["Devanagari", "मुझे हिन्दी पसंद है", "हिन्दी", "पसंद"],
    ["Han", "用户喜欢深色模式", "深色", "喜欢的模式"],
    ["Kana", "ユーザーはコーヒーが好きです", "コーヒー", "ｺｰﾋｰ"],
    ["Hangul", "사용자는 서울에 살고 있다", "서울", "서울에서"],
    ["Thai", "ผู้ใช้ชอบกาแฟดำ", "กาแฟ", "ชอบกาแฟ"],
    ["digits", "Invoice 2026-10 for AC/DC", "2026", "ac"],
    ["full width", "ＡＢＣ１２３", "abc123", "ABC123"],
  ])("[MEMORY-3] finds what is written in %s", (_script, text, ...queries) => {
    for (const query of queries) expect([query, found(text, query)]).toEqual([query, true]);
    expect(found(text, "unrelated")).toBe(false);
    expect(found(text, "")).toBe(false);
  });

  it("[MEMORY-3] tells letters apart that only look alike, and words from their parts", () => {
    expect(found("красный", "крас")).toBe(false);
    expect(found("мой", "мои")).toBe(false);
    expect(found("नदी", "नद")).toBe(false);
    expect(found("深色", "浅色")).toBe(false);
    expect(found("三只猫", "猫")).toBe(true);
  });

  it("[MEMORY-3] each text is found by itself, and by a part of it between spaces", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        const words = new Set(wordsOf(text));
        expect(queryWordsOf(text, 1_000).every((word) => words.has(word))).toBe(true);
        expect(wordsOf(`${text} ${text}`)).toEqual([...wordsOf(text), ...wordsOf(text)]);
      }),
    );
  });

  it("[MEMORY-3] a rare word counts for more than a common one, and a short text for more than a long one", () => {
    const texts = ["tea and milk", "tea and sugar", "tea and lemon", "saffron and tea"];
    expect(rank(texts, String, "tea saffron").map(({ item }) => item)[0]).toBe("saffron and tea");
    const long = `lemon ${"word ".repeat(50)}`;
    expect(rank([long, "lemon pie", "a", "b", "c"], String, "lemon").map(({ item }) => item)).toEqual([
      "lemon pie",
      long,
    ]);
  });
});
