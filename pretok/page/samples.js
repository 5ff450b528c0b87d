// Texts to try. Written for this page.

export const SAMPLES = {
  "A first look":
    "Tokenizers don't read words. They read pre-tokens: I've counted 12345 of them, " +
    "and it's 2026!\n\n    def split(text):\n        return text\n\n" +
    "naïve café, Ωμέγα, 东京 и Москва, שלום, مرحبا, नमस्ते 👩‍🚀👍🏽🇪🇺\n",
  "White space": "one two  three   four\tfive\t\tsix \n seven\n\n\neight \r\n  nine\u00a0ten\u3000eleven  ",
  "Numbers": "7 42 365 1024 86400 1000000 3.14159 1,234,567 0x1F 10e-9 ¼ Ⅻ ٣٤٥ 千九百\n",
  "Contractions": "I'm you're he'll we'd they've it's CAN'T DON'T O'Clock ’tis don’t l'été\n",
  "Code":
    "for (let i = 0; i < n; ++i) {\n\tif (a[i] !== b[i]) return HTTPServer.parseJSON(`${i}`);\n}\n" +
    "SELECT * FROM words WHERE count >= 10; -- snake_case, camelCase\n",
  "Scripts":
    "Grüße aus Zürich. Καλημέρα κόσμε. Доброе утро. 今日は良い天気ですね。 안녕하세요 세계. " +
    "สวัสดีชาวโลก नमस्ते दुनिया வணக்கம் Xin chào thế giới.\n",
  "Right to left": "שלום עולם, יש כאן 3 מילים. مرحبا بالعالم، هذا نص قصير (123).\n",
  "Emoji": "👍 👍🏽 👨‍👩‍👧‍👦 👩🏾‍💻 🏳️‍🌈 🇯🇵🇧🇷 ❤️ ☎︎ 1️⃣ 🫱🏻‍🫲🏿\n",
  "Hard to see":
    "zero\u200bwidth joiner\u200dhere soft\u00adhyphen bell\u0007 null\u0000 escape\u001b[0m " +
    "override\u202etxt\u202c a\u0301 e\u0301\u0323 \ufeffmark \ue000 \ufffd\n",
};
