// Runs the cases that onnx_web.py wrote with onnxruntime-web, as browsers do.
import * as ort from 'onnxruntime-web';
import fs from 'fs';

ort.env.wasm.numThreads = 1;
const cases = JSON.parse(fs.readFileSync('cases.json'));
let wrong = 0;
for (const own of cases) {
  const session = await ort.InferenceSession.create(new Uint8Array(fs.readFileSync(`${own.seed}.onnx`)));
  const feeds = {};
  for (const [name, { texts, numbers }] of Object.entries(own.columns)) {
    const values = Float64Array.from(numbers, (number) => (number === null ? NaN : number));
    feeds[name] = texts.length
      ? new ort.Tensor('string', texts, [own.nRows, 1])
      : new ort.Tensor('float64', values, [own.nRows, 1]);
  }
  const found = (await session.run(feeds, [own.output]))[own.output].data;
  const far = own.expected.some((value, i) => Math.abs(found[i] - value) > own.digits * Math.abs(value));
  if (far || found.length !== own.expected.length) {
    wrong += 1;
    console.log(`model ${own.seed} is wrong`);
  }
}
console.log(`${cases.length} models, ${wrong} wrong`);
process.exit(wrong ? 1 : 0);
