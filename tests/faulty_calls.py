"""Calls at fault, with the files that they read, what each is told and the hint."""

from attncalc.common.errors import either
from attncalc.homework.reports.class_reports import REPORTS
from attncalc.render import SUFFIXES, TABLE, pages_and

FILES = {
    "q.json": "[[1,0,1],[0,1,1]]",
    "k.json": "[[1,1,0],[1,0,1]]",
    "v.json": "[[2,0,1],[1,1,0]]",
    "wide.json": "[[1,0,1,2],[0,1,1,2]]",
    "a.json": "[1]",
    "a.csv": "1\n",
    "ragged.json": "[[1,2],[3]]",
    "broken.json": "[[1,2],[3,]]",
    "empty.json": "",
    "nothing.json": "[]",
    "text.json": '[["1","x"]]',
    "null.json": "[1,null]",
    "bool.json": "[true,false]",
    "twice.json": '{"a":[1],"a":[2],"b":[3]}',
    "nan.json": "[1,NaN]",
    "huge.json": "[1e999]",
    "x.csv": "1,2\n3,x\n",
    "ragged.csv": "1,2\n3\n",
    "mixed.csv": "a,2\n3,4\n",
    "two.csv": "1,5;2,5\n3,5;4,5\n",
    "words.csv": ",x,y\ncat,1,2\ndog,3,4\n",
    "problem.json": '{"attncalc":1,"calculation":"attention","inputs":{"q":[[1]]},"options":{"casual":true}}',
    "future.json": '{"attncalc":2,"calculation":"cosine","inputs":{}}',
    "nameless.json": '{"inputs":{}}',
    "other.json": '{"attncalc":1,"calculation":"cosinus","inputs":{}}',
    "model.pt": "x",
    "sheet.xlsx": "x",
}

CALLS = {
    "cosinee 1,2 3,4": (
        'attncalc has no command "cosinee"',
        "did you mean cosine?",
    ),
    "positional --n 2 --d 2": (
        'attncalc has no command "positional"',
        "did you mean positional-encoding?",
    ),
    "1,2 3,4": (
        'attncalc has no command "1,2"',
        "a calculation's name comes first: attncalc cosine 1,2 3,4",
    ),
    "q.json k.json": (
        'attncalc has no command "q.json"',
        "a calculation's name comes first; attncalc run FILE evaluates a saved problem",
    ),
    "help": (
        'attncalc has no command "help"',
        "attncalc --help, or attncalc cosine --help",
    ),
    "why softmax": (
        'attncalc has no command "why"',
        "write attncalc explain softmax",
    ),
    "how does attention work": (
        'attncalc has no command "how"',
        "write attncalc explain attention",
    ),
    "errors softmax": (
        'attncalc has no command "errors"',
        "did you mean mistakes?",
    ),
    "backprop softmax 1,2": (
        'attncalc has no command "backprop"',
        "did you mean grad?",
    ),
    "attention-causal.json": (
        'attncalc has no command "attention-causal.json"',
        "attncalc sample attention-causal.json -o attention-causal.json writes the sample",
    ),
    "quiz attention-causal.json -o quiz": (
        'there is no document "attention-causal.json"',
        "attncalc sample attention-causal.json -o attention-causal.json writes the sample",
    ),
    "quiz softmax --difficulty easy": (
        "attncalc quiz has no option --difficulty",
        "did you mean --level?",
    ),
    "quiz softmax --students 30": (
        "attncalc quiz has no option --students",
        "did you mean --roster?",
    ),
    "grade sheets --late 1": (
        "attncalc grade has no option --late",
        "did you mean --override?",
    ),
    "softmax 1,2 --float32": (
        "attncalc softmax has no option --float32",
        "did you mean --dtype?",
    ),
    "softmax 1,2 --steps softmax": (
        "attncalc softmax has no option --steps",
        "did you mean --show?",
    ),
    "model . 1,2 --max-new-tokens 3": (
        "attncalc model has no option --max-new-tokens",
        "did you mean --generate?",
    ),
    "multihead --num-heads 2": (
        "attncalc multihead has no option --num-heads",
        "did you mean --heads?",
    ),
    "quantize 1,2,3 --kind fp8": (
        '--kind must be int8, int4, float8_e4m3fn, float8_e5m2 or mxfp4, not "fp8"',
        "did you mean float8_e4m3fn or float8_e5m2?",
    ),
    "softmax 1,2 --dtype fp16": (
        '--dtype takes float64, float32, float16, bfloat16, float8_e4m3fn or float8_e5m2, not "fp16"',
        "did you mean float16?",
    ),
    "sampling 1,2,3 --temperature 0": (
        "--temperature must be greater than 0, not 0",
        "--greedy takes the likeliest",
    ),
    "sampling 1,2,3 --top-k 0": (
        "--top-k must be at least 1, not 0",
        "without --top-k there is none",
    ),
    "-f json cosine 1,2 3,4": (
        "attncalc has no option -f",
        "an option follows the name that it belongs to: attncalc COMMAND … -f",
    ),
    "--versoin": (
        "attncalc has no option --versoin",
        "did you mean --version?",
    ),
    "layernorm 1,2,3 --epsilon 1": (
        "attncalc layernorm has no option --epsilon",
        "did you mean --eps?",
    ),
    "list vectors": (
        'list takes no operands, but "vectors" was given',
        "",
    ),
    "list -f csv": (
        f'--format takes {either(pages_and("json"))}, not "csv"',
        "",
    ),
    "grad model": (
        "grad model needs checkpoint, but checkpoint is missing",
        "attncalc grad model --help says what it takes",
    ),
    "cosine": (
        "cosine needs a and b, but a and b are missing",
        "attncalc explain cosine says what it takes, with an example",
    ),
    "cosine 1,2": (
        "cosine needs a and b, but b is missing",
        "",
    ),
    "scaling 3": (
        "scaling takes no operands by position, but 1 word was given",
        "attncalc scaling --help lists what it takes",
    ),
    "cosine 1 2 3 4": (
        "cosine takes 2 operands (a and b), but 4 words were given",
        'quote each vector: "1,2,3" (PowerShell splits 1,2,3 in three words)',
    ),
    "softmax --x 0 --symbolic": (
        "x would have no letters: its shape is 0",
        "x as 2x3 has six",
    ),
    "likelihood 1,1/2 --p 0.5 --exact": (
        "observations[1] = 0.5: a Bernoulli trial gives 0 or 1",
        "",
    ),
    "cosine 1,2 3,4,5": (
        "cannot form a ⊙ b: a is n=2 but b is n=3; n must be of one size",
        "",
    ),
    "cosine 1,2 0,0": (
        "b is the zero vector: it has no direction, so there is no angle to it",
        "a distance (euclidean, manhattan) is defined for it",
    ),
    'cosine "" 1,2': (
        "a: the word is empty",
        "1,2,3 is a vector, q.json a file, - standard input",
    ),
    "cosine 1,x 3,4": (
        'a: entry 2: "x" is not a number',
        "",
    ),
    "cosine 1,2 nan,4": (
        'b: entry 1: "nan" is not a finite number',
        "",
    ),
    "cosine 1,2 inf,4": (
        'b: entry 1: "inf" is not a finite number',
        "",
    ),
    "cosine 1,2 1e999,1": (
        'b: entry 1: "1e999" is too large: 64-bit numbers end at 1.8e308',
        "",
    ),
    "cosine missing.json 1,2": (
        "there is no file missing.json",
        "",
    ),
    "cosine a 1,2": (
        'a: "a" is both the file a.json and the file a.csv',
        "write @a.json or @a.csv",
    ),
    "cosine cat dog": (
        'a: "cat" is neither numbers nor a file',
        "1,2,3 is a vector, - standard input",
    ),
    "attention --q 1,2 --k 1,2 --v 3,4 --bias t5": (
        'bias: "t5" is neither numbers nor a file',
        "it may be alibi; 1,2,3 is a vector, - standard input",
    ),
    "attention --q 1,2 --k 1,2 --v 3,4 --bias alibbi": (
        'bias: "alibbi" is neither numbers nor a file',
        "did you mean alibi?",
    ),
    "cosine cat dgo --data words.csv": (
        'b: "dgo" is no number, no file and no row label',
        "did you mean dog?",
    ),
    "cosine cat dog --data missing.csv": (
        "there is no file missing.csv",
        "",
    ),
    "cosine ragged.json 1,2": (
        "ragged.json: [1] has 1 entry where the first has 2",
        "the rows of an array are equally long",
    ),
    "cosine broken.json 1,2": (
        'broken.json:1:11: "]" stands where a value is expected',
        "take out the comma before it",
    ),
    "cosine empty.json 1,2": (
        "empty.json is empty",
        "",
    ),
    "cosine nothing.json 1,2": (
        "nothing.json is empty",
        "",
    ),
    "cosine text.json 1,2": (
        'text.json: [0][1]: "x" is not a number',
        "",
    ),
    "cosine null.json 1,2": (
        "null.json: [1]: null is not a number",
        "arrays have no gaps: every entry must be a number",
    ),
    "cosine bool.json 1,2": (
        "bool.json: [0]: true is not a number",
        "true and false stand in masks alone: write 1 and 0",
    ),
    "cosine twice.json": (
        'twice.json:1:10: the key "a" occurs twice in one object',
        "",
    ),
    "cosine nan.json 1,2": (
        'nan.json: [1]: "NaN" is not a finite number',
        "",
    ),
    "cosine huge.json 1,2": (
        'huge.json: [0]: "1e999" is too large: 64-bit numbers end at 1.8e308',
        "",
    ),
    "cosine folder 1,2": (
        "folder is a folder with nothing in it",
        "arrays are in npz, safetensors or npy files, or in a folder of npy files",
    ),
    "cosine model.pt 1,2": (
        "model.pt is a PyTorch file, which is never opened, since that can run code",
        "save the arrays: safetensors.torch.save_file, or numpy.save(path, tensor.detach().cpu().numpy())",
    ),
    "cosine sheet.xlsx 1,2": (
        "sheet.xlsx is a spreadsheet",
        "save it as CSV",
    ),
    "cosine objects.npy 1,2": (
        "objects.npy holds Python objects, which are never opened, since that can run code",
        "save numbers: numpy.save(path, array.astype(float))",
    ),
    "cosine complex.npy 1,2": (
        "complex.npy holds complex numbers, not real numbers",
        "",
    ),
    "cosine q.json#z 1,2": (
        'q.json is one array without row labels, so there is no "z" in it',
        "a table's first column is read as labels where it holds no number, or with --labels",
    ),
    "softmax x.csv": (
        'x.csv:2:2: "x" is not a number',
        "",
    ),
    "softmax ragged.csv": (
        "ragged.csv:2: has 1 cell where line 1 has 2",
        "",
    ),
    "softmax mixed.csv": (
        'mixed.csv:1:1: "a" is not a number',
        "a first row or column of labels holds no number; --header and --labels overrule",
    ),
    "softmax two.csv": (
        (
            'two.csv:1: "1,5;2,5" can be read in two ways: as the numbers 1.5 and 2.5 with decimal commas, or '
            "as the rows 1,5 and 2,5"
        ),
        "--decimal , for decimal commas; otherwise put each row on a line of its own",
    ),
    "softmax words.csv --delimiter ;;": (
        '--delimiter is one character, not ";;"',
        "or tab, \\t, blank, space, comma, semicolon",
    ),
    "softmax words.csv --decimal x": (
        '--decimal is . or , not "x"',
        "",
    ),
    "softmax 1,2 --temp 2": (
        "attncalc softmax has no option --temp",
        "did you mean --temperature?",
    ),
    "temperature 1,2": (
        'attncalc has no command "temperature"',
        "softmax, contrastive-loss and sampling tell of it: attncalc explain softmax",
    ),
    "cosine q.json[0] 1,2": (
        "there is no file q.json[0]",
        "did you mean q.json#[0]?",
    ),
    "softmax 1,2,3 --decimal ,": (
        '"1,2,3" has two decimal commas in a number',
        "with --decimal , blanks part numbers: 1,5 2",
    ),
    "softmax -inf,-inf": (
        "x is −∞ throughout: nothing is left to share out",
        "let one entry of it stay finite; attention gives such a query the weights 0",
    ),
    "softmax 1,2 --temperature 0": (
        "--temperature must be greater than 0, not 0",
        "",
    ),
    "softmax 1,2 --temperature hot": (
        '--temperature must be a number, not "hot"',
        "",
    ),
    "softmax 1,2 --axis 3": (
        "there is no axis 3: x has 1 of them, counted from 0 or back from −1",
        "",
    ),
    "softmax 1,2 --axis 0.5": (
        "--axis must be a whole number, not 0.5",
        "",
    ),
    "cosine 1,2 3,4 --distanc": (
        "attncalc cosine has no option --distanc",
        "did you mean --distance?",
    ),
    "cosine 1,2 3,4 --distance=yes": (
        "--distance is a switch and takes no value",
        "leave out =yes",
    ),
    "cosine 1,2 3,4 --digits": (
        "--digits needs a value",
        "write --digits N",
    ),
    "cosine 1,2 3,4 --digits --quiet": (
        "--digits needs a value, but --quiet is an option",
        "write --digits N, or --digits=--quiet if that is the value",
    ),
    "cosine 1,2 3,4 -d many": (
        '--digits takes a whole number from 0 to 50, not "many"',
        "",
    ),
    "cosine 1,2 3,4 -d -1": (
        '--digits takes a whole number from 0 to 50, not "-1"',
        "",
    ),
    "cosine 1,2 3,4 -d 2 -d 3": (
        '-d is given twice: "2" and "3"',
        "",
    ),
    "cosine 1,2 3,4 --round 99": (
        '--round takes a whole number from 0 to 15, not "99"',
        "",
    ),
    "cosine 1,2 3,4 --color green": (
        '--color takes auto, always or never, not "green"',
        "",
    ),
    "cosine 1,2 3,4 --dtype float128": (
        '--dtype takes float64, float32, float16, bfloat16, float8_e4m3fn or float8_e5m2, not "float128"',
        "did you mean float32, float16 or bfloat16?",
    ),
    "cosine 1,2 3,4 -f jsn": (
        f'--format takes {either(TABLE)}, not "jsn"',
        "did you mean json?",
    ),
    "cosine 1,2 3,4 -f md": (
        f'--format takes {either(TABLE)}, not "md"',
        "did you mean markdown?",
    ),
    "cosine 1,2 3,4 -f xlsx": (
        f'--format takes {either(TABLE)}, not "xlsx"',
        "did you mean csv, which spreadsheets open?",
    ),
    "grade problem.json --report Excel": (
        f'--report takes {either(REPORTS)}, not "Excel"',
        "did you mean csv, which spreadsheets open?",
    ),
    "explain softmax -f docx": (
        f'--format takes {either(pages_and("json"))}, not "docx"',
        "did you mean html, which browsers print and word processors open?",
    ),
    "cosine 1,2 3,4 -o x.ods": (
        "cannot tell the format of x.ods from its suffix",
        "did you mean .csv, which spreadsheets open?",
    ),
    "cosine 1,2 3,4 -o x.jpeg": (
        "cannot tell the format of x.jpeg from its suffix",
        "did you mean .png?",
    ),
    "cosine 1,2 3,4 -o x.zip": (
        "cannot tell the format of x.zip from its suffix",
        f"known suffixes are {', '.join(SUFFIXES)}; for any other, give -f FORMAT",
    ),
    "cosine 1,2 3,4 -o x": (
        "cannot tell the format of x from its suffix",
        f"known suffixes are {', '.join(SUFFIXES)}; for any other, give -f FORMAT",
    ),
    "cosine 1,2 3,4 -f htm": (
        f'--format takes {either(TABLE)}, not "htm"',
        "did you mean html?",
    ),
    "cosine 1,2 3,4 --cell all -f csv": (
        "--cell shows the arithmetic of an entry, but csv holds numbers alone",
        f"{either(pages_and('json'))} shows it",
    ),
    "cosine 1,2 3,4 --show dot,norm_a -q": (
        "--show picks steps of the page, and -q prints the result alone",
        "--get dot -q prints one step, and --show without -q shows these",
    ),
    "cosine 1,2 3,4 --tokens the,cat": (
        "attncalc cosine has no option --tokens",
        'rows have their labels in a file: {"q": [[1, 2]], "labels": ["cat"]}',
    ),
    "cosine 1,2 3,4 --show dot -f npy": (
        "--show picks steps, but npy holds one array",
        "--get NAME is that of one step",
    ),
    "cosine 1,2 3,4 --cell dot -o x.npy": (
        "--cell shows the arithmetic of an entry, but npy holds numbers alone",
        f"{either(pages_and('json'))} shows it",
    ),
    "cosine 1,2 3,4 -o folder": (
        "cannot write folder: it is a folder",
        "name a file in it: folder/result.json",
    ),
    "cosine 1,2 3,4 -o none/x.json": (
        "cannot write none/x.json: there is no folder none",
        "",
    ),
    "cosine 1,2 3,4 -o=": (
        "--output needs the name of a file, but it is empty",
        "",
    ),
    "cosine 1,2 3,4 --get norm": (
        "cosine has no step or output called 'norm'",
        "did you mean norm_a, norm_b or norm_product?",
    ),
    "cosine 1,2 3,4 --show dto": (
        "cosine has no step or output called 'dto'",
        "did you mean dot?",
    ),
    "cosine 1,2 3,4 --transpose c": (
        '--transpose "c": cosine has no such operand',
        "",
    ),
    "cosine 1,2 3,4 -p 3": (
        "attncalc cosine has no option -p",
        "attncalc cosine --help lists its options",
    ),
    "cosine 1,2 3,4 —distance": (
        '"—distance" begins with a dash that is not a hyphen',
        "did you mean --distance?",
    ),
    "cosine --a 1,2 3,4 5,6": (
        "cosine takes 1 operand (b), but 2 words were given",
        'the rows of a matrix are one word: "1,2; 3,4"',
    ),
    "cosine - -": (
        "standard input is empty",
        "",
    ),
    "attention": (
        "attention needs q, k and v (or x with wq, wk and wv): q must still be given",
        "attncalc explain attention says what it takes, with an example",
    ),
    "attention q.json k.json": (
        "attention needs q, k and v: v must still be given",
        "",
    ),
    "attention q.json wide.json v.json": (
        (
            "cannot form Q·Kᵀ: Q is n=2 × d_k=3 but K is m=2 × d_k=4; the inner sizes must agree, (m×n)(n×p) "
            "→ (m×p), and here they are (2×3)(4×2) (q from q.json, k from wide.json, v from v.json)"
        ),
        "",
    ),
    "attention q.json k.json v.json --causal_align end": (
        "attncalc attention has no option --causal_align",
        "did you mean --causal-align?",
    ),
    "attention q.json k.json v.json --causal-align midle": (
        '--causal-align must be start or end, not "midle"',
        "",
    ),
    "attention q.json k.json v.json --scale big": (
        '--scale must be a number, default or none, not "big"',
        "",
    ),
    "optimizer --adam": (
        "attncalc optimizer has no option --adam",
        "did you mean --kind adam?",
    ),
    "attention q.json k.json v.json --half": (
        "attncalc attention has no option --half",
        "did you mean --rope-layout half?",
    ),
    "softmax 1,2,3 --plot x.png": (
        "softmax takes 1 operand (x), but 2 words were given",
        "-o x.png writes the page there",
    ),
    "softmax 1,2,3 gone.csv": (
        "softmax takes 1 operand (x), but 2 words were given",
        "",
    ),
    "layernorm 1 2 3": (
        "x is a single number, but a matrix is needed (n × d)",
        '"1,2,3" is a row, "[[2]]" a matrix of one entry',
    ),
    "softmax 50% 50%": (
        "softmax takes 1 operand (x), but 2 words were given",
        'quote each vector: "1,2,3" (PowerShell splits 1,2,3 in three words)',
    ),
    "quiz softmax --roster 30": (
        "a roster is a file, not a number of students: 30",
        "its first line is the word student, and a name stands in each of the others",
    ),
    "attention q.json k.json v.json --window 0": (
        "--window must be at least 1, not 0",
        "without --window there is none",
    ),
    "attention q.json k.json v.json --softcap -1": (
        "--softcap must be greater than 0, not -1",
        "",
    ),
    "attention q.json k.json v.json --padding 1,2,3": (
        "--padding 3 is not among 0…2: it is a number of keys, and m=2",
        "",
    ),
    "attention q.json k.json v.json --padding x": (
        '--padding must be a whole number, not "x"',
        "",
    ),
    "attention --x q.json": (
        "attention from x needs wq, wk and wv",
        "",
    ),
    "attention problem.json": (
        'problem.json: attention has no option "casual"',
        "did you mean causal?",
    ),
    "matmul q.json k.json": (
        (
            "cannot form A·B: A is m=2 × n=3 but B is n=2 × p=3; the inner sizes must agree, (m×n)(n×p) → "
            "(m×p), and here they are (2×3)(2×3) (a from q.json, b from k.json)"
        ),
        "is q.json transposed? --transpose a turns it round",
    ),
    "attention q.json wide.json v.json --mask k.json --bias k.json": (
        (
            "cannot form Q·Kᵀ: Q is n=2 × d_k=3 but K is m=2 × d_k=4; the inner sizes must agree, (m×n)(n×p) → "
            "(m×p), and here they are (2×3)(4×2) (read from q.json, wide.json, v.json and k.json)"
        ),
        "",
    ),
    "matmul q.json k.json --transpose a,b": (
        (
            "cannot form A·B: A is m=3 × n=2 but B is n=3 × p=2; the inner sizes must agree, (m×n)(n×p) → "
            "(m×p), and here they are (3×2)(3×2) (a from q.json, b from k.json)"
        ),
        "a is turned round by --transpose: leave a out of it",
    ),
    "analogy cat dog cat --data words.csv": (
        "analogy needs a, b, c and vocabulary, but vocabulary is missing",
        "--vocabulary words.csv gives the vectors to search, one a row",
    ),
    "complexity --d-model 4": (
        "--d-model 4 cannot be shared equally among --heads 8 (the default)",
        "--heads 4 divides it",
    ),
    "complexity --kv-heads 6 --heads 9 --d-model 9": (
        "--heads 9 cannot be shared equally among --kv-heads 6",
        "--kv-heads 3 divides it",
    ),
    "matmul 1,2": (
        "matmul needs a and b, but b is missing",
        "",
    ),
    "pairwise words.csv --metric angle": (
        (
            "--metric must be cosine-similarity, cosine, euclidean, sqeuclidean, manhattan, chebyshev, minkowski "
            'or dot, not "angle"'
        ),
        "did you mean cosine?",
    ),
    "norm 3,4 --p x": (
        '--p must be a number or inf, not "x"',
        "",
    ),
    "grad": (
        "attncalc grad needs the name of a calculation",
        "attncalc list names them all",
    ),
    "grad cosinee 1,2 3,4": (
        'attncalc grad has no calculation "cosinee"',
        "did you mean cosine?",
    ),
    "grad q.json": (
        'attncalc grad has no calculation "q.json"',
        "a calculation's name comes first: attncalc grad attention FILE",
    ),
    "grad attention 1,2 3,4 5,6 --mask 0.5 --wrt mask": (
        "there is no gradient with respect to 'mask', which is held constant: q, k and v can have one",
        "the --bias of attention adds numbers to the scores that have one",
    ),
    "grad cross-entropy 1,2 0.25,0.75 --wrt target": (
        "there is no gradient with respect to 'target', which is held constant: logits can have one",
        "",
    ),
    "grad cosine 1,2 3,4 --wrt c": (
        "there is no gradient with respect to 'c': cosine was given a and b",
        "",
    ),
    "grad softmax 1,2 --upstream 1,2,3": (
        "upstream is 3, and the result that it belongs to is n=2",
        "",
    ),
    'grad mips 1,2 "1 2; 3 4"': (
        "ranking has no gradient: a ranking jumps where two entries change places",
        "",
    ),
    "run": (
        "run takes one document, but 0 words were given",
        "attncalc run problem.json, or attncalc run problem.json --check answer.json",
    ),
    "norm 3,4 --rtol 0.1 --reveal": (
        "there is no answer for --reveal and --rtol to mark",
        "--check ANSWER gives one",
    ),
    "run q.json": (
        "q.json is not a document",
        "a document is a JSON object with its calculation, as -o FILE.json without -q saves it",
    ),
    "run missing.json": (
        'there is no document "missing.json"',
        "a document is the file of a problem, or of a result: attncalc sample lists some",
    ),
    "run future.json": (
        'future.json: the document is of version "2", but only 1 can be read',
        "",
    ),
    "run nameless.json": (
        "nameless.json does not name its calculation",
        'it has a key like "calculation": "attention"',
    ),
    "run other.json": (
        'other.json: there is no calculation called "cosinus"',
        "did you mean cosine?",
    ),
    "run problem.json": (
        'problem.json: attention has no option "casual"',
        "did you mean causal?",
    ),
    "run q.json k.json": (
        "run takes one document, but 2 words were given",
        "attncalc run problem.json, or attncalc run problem.json --check answer.json",
    ),
    "sample cosin": (
        'there is no sample "cosin"',
        "did you mean cosine.json or cosine-airplane.json?",
    ),
    "sample cosine words": (
        "sample takes the name of one sample, but 2 words were given",
        "attncalc sample attention.json",
    ),
    "sample cosine -f json": (
        "a sample is written as it is; -f is for the list of samples",
        "",
    ),
    "cosine 1,2 3,4 -o=folder/": (
        "cannot write folder: it is a folder",
        "name a file in it: folder/result.json",
    ),
    "cosine 1,2 3,4 --get=": (
        "cosine has no step or output called ''",
        "it has dot, norm_a, norm_b, norm_product, cosine, angle",
    ),
    "cosine 1,2 3,4 --show nothing,dot": (
        "cosine has no step or output called 'nothing'",
        "it has dot, norm_a, norm_b, norm_product, cosine, angle",
    ),
    "[1,2] 3": (
        'attncalc has no command "[1,2]"',
        "a calculation's name comes first: attncalc cosine 1,2 3,4",
    ),
    "list list": (
        'list takes no operands, but "list" was given',
        "",
    ),
    "cosine 1,2 3,4 -qx": (
        "attncalc cosine has no option -x",
        "attncalc cosine --help lists its options",
    ),
    "cosine -- -1,2 -x": (
        'b: "-x" is neither numbers nor a file',
        "did you mean x.csv?",
    ),
    "softmax 1,2 --logs": (
        "attncalc softmax has no option --logs",
        "did you mean --log?",
    ),
    "cosine 1,2 3,4 --data": (
        "--data needs a value",
        "write --data FILE",
    ),
    "norm 3,4 --p": (
        "--p needs a value",
        "write --p NUMBER|inf",
    ),
    "t.json": (
        'attncalc has no command "t.json"',
        "attncalc list names them all",
    ),
    "grad --upstream 1 cosine 1,2 3,4": (
        "attncalc grad has no option --upstream",
        "an option follows the name that it belongs to: attncalc grad CALCULATION … --upstream",
    ),
    "sample -o none/x": (
        "cannot write none/x: there is no folder none",
        "",
    ),
    "cosine 1,2 3,4 --decimal ; --delimiter ;": (
        '--decimal is . or , not ";"',
        "",
    ),
}
"""The call, what it is told, and the hint."""
